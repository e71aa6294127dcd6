"""Declared: the columns that a schema gives a table, and its fields that they do not hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sluice.columns.columns import Array, Column, ColumnType, Map, Primitive, Struct
from sluice.columns.names import (
    BAD_NAME,
    ELSEWHERE,
    OWN_NAME,
    TAKEN,
    TWIN,
    as_compared,
    is_ours,
    unfit,
)

ELEMENT = None
"""In a place: any value of an array, or of a map."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Place = tuple[str | None, ...]
"""The names that lead to a part of a record, from the outermost."""


@dataclass(frozen=True)
class Note:
    """A part of a schema that has no column of its own type, and why."""

    place: Place
    why: str

    def __str__(self) -> str:
        return f"{path_of(self.place)}: {self.why}"


@dataclass(frozen=True)
class Declared:
    """A schema's columns, which of its fields none of them holds, and which are JSON text."""

    columns: tuple[Column, ...]
    unread: tuple[Note, ...] = ()
    as_text: tuple[Note, ...] = ()
    fields: tuple[Column, ...] = ()
    """All of them, whatever their names."""


def told(declared: Declared) -> Iterator[str]:
    """A line for each reason why fields have no column, and why others are JSON text."""
    for why, places in _by_reason(declared.unread).items():
        next_move = f". {ELSEWHERE}" if why in (BAD_NAME, OWN_NAME, TWIN, TAKEN) else ""
        yield f"no column holds {places}: {why}{next_move}"
    for why, places in _by_reason(declared.as_text).items():
        yield f"JSON text is what the column holds of {places}: {why}"


def _by_reason(notes: Iterable[Note]) -> Mapping[str, str]:
    found: dict[str, list[str]] = {}
    for each in notes:
        found.setdefault(each.why, []).append(path_of(each.place))
    return {why: ", ".join(dict.fromkeys(places)) for why, places in found.items()}


def possible(fields: Iterable[Column], ours: Container[str] = ()) -> Declared:
    """The fields of a record that a table can hold under their names; the others are unread.

    `ours` are further names of Sluice's own.
    """
    unread: list[Note] = []
    found = tuple(fields)
    return Declared(tuple(_possible(found, (), unread, ours)), tuple(unread), fields=found)


def _possible(
    fields: Iterable[Column], above: Place, unread: list[Note], ours: Container[str] = ()
) -> Iterator[Column]:
    """The fields that can be columns, or parts of them."""
    seen: set[str] = set()
    for each in fields:
        place = (*above, each.name)
        why = OWN_NAME if not above and is_ours(each.name, ours) else unfit(each.name, seen)
        if why:
            unread.append(Note(place, why))
            continue
        seen.add(as_compared(each.name))
        yield Column(each.name, _with_possible_fields(each.type, place, unread))


def _with_possible_fields(found: ColumnType, place: Place, unread: list[Note]) -> ColumnType:
    match found:
        case Struct(fields):
            lost: list[Note] = []
            possible = tuple(_possible(fields, place, lost))
            # The text of the whole loses none of them.
            unread += lost if possible else []
            return Struct(possible) if possible else Primitive("STRING")
        case Array(element):
            return Array(_with_possible_fields(element, (*place, ELEMENT), unread))
        case Map(value):
            return Map(_with_possible_fields(value, (*place, ELEMENT), unread))
    return found


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
