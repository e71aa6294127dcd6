"""Spec files: further files of a schema, all in the folder of the spec or below it. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import Protocol

from sluice.schemas.registered import Reference

EXPECTED = "expected a file in the folder of the spec, or below it"


class SpecFiles(Protocol):
    """The contract: what is in the folder of the spec, and below it."""

    def get(self, name: str, /) -> bytes | None:
        """The content of a file, by its path from the folder; None without one."""


def plain_path(name: str) -> str:
    """A file's path from the folder of the spec, as each way to write it has it."""
    return posixpath.normpath(name)


def text_of(name: str, content: bytes) -> str:
    """The text of a file. Raises ValueError for other bytes."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{name}: expected text in UTF-8") from None


def named_files(first: str, names: Iterable[str], files: SpecFiles) -> tuple[Reference, ...]:
    """The texts of the files that `schema_files` names, beside the first. Raises ValueError."""
    found: dict[str, Reference] = {}
    for name in names:
        plain = plain_path(name)
        if plain == plain_path(first):
            raise ValueError(f"schema_files: {name}: it is the schema_file; leave it out here")
        if plain in found:
            raise ValueError(f"schema_files: {name}: named twice; leave one of them out")
        content = files.get(name)
        if content is None:
            raise ValueError(f"schema_files: found {name!r}; {EXPECTED}")
        found[plain] = Reference(plain, text_of(name, content))
    return tuple(found.values())
