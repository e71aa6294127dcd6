"""Causes: an error that Spark reports, by its class, condition and parameters. Pure.

What is decided about a failure is decided by these: the text of any error may hold what a record
holds, or a topic's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cause:
    """One error: its class, Spark's name of the condition (empty if it has none), its text."""

    kind: str
    condition: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
