"""Values: keys and values by the schema that they were written with, as JSON has them. Pure.

For people to look at, without a JVM. What decodes records into columns is in jobs/jvm.
"""

from __future__ import annotations

from typing import Any, Protocol


class Written(Protocol):
    """The bytes of a key or value, without what names its schema."""

    @property
    def body(self) -> bytes:
        """All of them."""

    def message(self) -> tuple[tuple[int, ...], bytes]:
        """Which of a schema's messages it is, and the bytes of that. Raises ValueError."""


class Values(Protocol):
    """The values of one schema."""

    def record(self, found: Written) -> str:
        """The name of its record; empty without one."""

    def value(self, found: Written) -> Any:
        """As JSON has it. Raises ValueError."""
