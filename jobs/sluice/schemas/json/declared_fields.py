"""Declared fields: each name that a JSON schema declares anywhere, held to its columns. Pure."""

from __future__ import annotations

from sluice.columns.columns import Array, ColumnType, Map, Primitive, Struct
from sluice.columns.declared import Declared, Note, Place, path_of, possible

_MOST_FIELDS = 10_000
_MOST_PARTS = 30_000


class TooLarge(ValueError):
    """A schema with too many fields, or whose parts lead to others too often."""


class DeclaredFields:
    """The places of a schema's fields, as they are met."""

    def __init__(self) -> None:
        self._met: dict[Place, None] = {}
        self._fields = 0
        self._parts = 0
        self._cut: dict[Place, str] = {}
        self._open: dict[tuple[Place, str], None] = {}

    def meets(self, place: Place) -> bool:
        """Note a field. Raises TooLarge where there are too many."""
        self._fields += 1
        if self._fields > _MOST_FIELDS:
            raise _too_many(place, f"{_MOST_FIELDS} fields")
        self._met[place] = None
        return True

    def visits(self, place: Place) -> None:
        """Note a part, each time that the schema leads to it. Raises TooLarge as `meets`."""
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise _too_many(place, f"{_MOST_PARTS} parts")

    def recurs(self, place: Place) -> None:
        """Note that a type holds itself there."""
        self._cut[place] = "the schema holds itself"

    def is_too_deep(self, place: Place) -> None:
        """Note that fields below it are left to the text of their object."""
        self._cut[place] = f"with what is below, the schema has more than {_MOST_FIELDS} fields"

    def leaves_open(self, place: Place, names: str) -> None:
        """Note that an object may have fields of other names."""
        self._open[place, names] = None

    def declared(self, found: Struct) -> Declared:
        """The columns of the record, and which of the fields they do not hold, each with why."""
        possible_now = possible(found.fields)
        record, unread = Struct(possible_now.columns), list(possible_now.unread)
        as_text: dict[Place, str] = {}
        for place, why in self._cut.items():
            if held := _held(record, place):
                as_text[held] = why
        for place in self._met:
            held = _held(record, place)
            if held and held != place:
                if _below(record, held) == Primitive("STRING"):
                    as_text.setdefault(held, "values of several shapes")
                else:
                    unread.append(Note(place, f"{path_of(held)} has values of another type"))
        for place, names in self._open:
            if isinstance(_below(record, place), Struct):
                unread.append(Note(place, f"fields with {names}"))
        return Declared(
            record.fields, tuple(unread), tuple(Note(*e) for e in as_text.items()), found.fields
        )


def _too_many(place: Place, most: str) -> TooLarge:
    return TooLarge(f"{path_of(place)}: expected at most {most}, found more")


def _below(found: ColumnType, place: Place) -> ColumnType | None:
    """The type at a place; None where the types end before it, or have no such field."""
    for name in place:
        found_below = _step(found, name)
        if found_below is None:
            return None
        found = found_below
    return found


def _held(record: Struct, place: Place) -> Place:
    """The place itself, or the place above it which is of another type; empty where none is."""
    found: ColumnType = record
    for depth, name in enumerate(place):
        below = _step(found, name)
        if below is None:
            # Which fields of a struct a table cannot hold is known already.
            is_known = isinstance(found, Struct) and name is not None
            return () if is_known else place[:depth]
        found = below
    return place


def _step(found: ColumnType, name: str | None) -> ColumnType | None:
    match found:
        case Struct(fields):
            return next((each.type for each in fields if each.name == name), None)
        case Array(inner) | Map(inner):
            return inner if name is None else None
    return None
