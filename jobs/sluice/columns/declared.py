"""Declared: the columns that a schema gives a table, and what of it they do not hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sluice.columns.columns import Column

ELEMENT = None
"""In a place: any value of an array, or of a map."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Place = tuple[str | None, ...]
"""The names that lead to a part of a record, from the outermost."""


@dataclass(frozen=True)
class Note:
    """A part of a schema that is no column of its own type, and why."""

    place: Place
    why: str

    def __str__(self) -> str:
        return f"{path_of(self.place)}: {self.why}"


@dataclass(frozen=True)
class Declared:
    """A schema's columns; fields that none of them holds; and those that are held as JSON text."""

    columns: tuple[Column, ...]
    unread: tuple[Note, ...] = ()
    as_text: tuple[Note, ...] = ()


def path_of(place: Iterable[str | None]) -> str:
    """A place as the spec's `columns` has it: `$.user['http.status']`."""
    return "$" + "".join(map(_step, place))


def _step(name: str | None) -> str:
    if name is None:
        return "[*]"
    if _PLAIN.fullmatch(name):
        return f".{name}"
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"
