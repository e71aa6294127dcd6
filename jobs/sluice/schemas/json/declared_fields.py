"""Declared fields: each name that a JSON schema declares anywhere, held to its columns. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sluice.columns.columns import Array, Column, ColumnType, Map, Struct
from sluice.columns.declared import ELEMENT, Declared, Note, Place
from sluice.columns.names import require_name, require_not_ours
from sluice.schemas.json.merging import STRING

_MOST_FIELDS = 10_000


class DeclaredFields:
    """The places of a schema's fields, as they are met."""

    def __init__(self) -> None:
        self._met: dict[Place, None] = {}
        self._visits = 0
        self._recurring: dict[Place, None] = {}
        self._open: dict[tuple[Place, str], None] = {}

    def meets(self, place: Place) -> bool:
        """Note a field. Raises ValueError where there are too many."""
        self._visits += 1
        if self._visits > _MOST_FIELDS:
            raise ValueError(f"expected at most {_MOST_FIELDS} fields, found more")
        self._met[place] = None
        return True

    def recurs(self, place: Place) -> None:
        """Note that a type holds itself there."""
        self._recurring[place] = None

    def leaves_open(self, place: Place, names: str) -> None:
        """Note that an object may have fields of other names."""
        self._open[place, names] = None

    def declared(self, found: Struct) -> Declared:
        """The columns of the record, and which of the fields they do not hold, each with why."""
        unread: list[Note] = []
        record = Struct(tuple(_possible(found.fields, (), unread)))
        as_text: dict[Place, str] = {}
        for place in self._recurring:
            if held := _held(record, place):
                as_text[held] = "the schema holds itself"
        for place in self._met:
            held = _held(record, place)
            if held and held != place:
                as_text.setdefault(held, "values of several shapes")
        for place, names in self._open:
            if isinstance(_below(record, place), Struct):
                unread.append(Note(place, f"fields with {names}"))
        return Declared(record.fields, tuple(unread), tuple(Note(*e) for e in as_text.items()))


def _possible(fields: Iterable[Column], above: Place, unread: list[Note]) -> Iterator[Column]:
    """The fields that can be columns, or parts of them."""
    seen: set[str] = set()
    for each in fields:
        place = (*above, each.name)
        try:
            require_name(each.name, seen)
            if not above:
                require_not_ours([each.name])
        except ValueError as problem:
            unread.append(Note(place, str(problem)))
        else:
            yield Column(each.name, _with_possible_fields(each.type, place, unread))


def _with_possible_fields(found: ColumnType, place: Place, unread: list[Note]) -> ColumnType:
    match found:
        case Struct(fields):
            lost: list[Note] = []
            possible = tuple(_possible(fields, place, lost))
            # The text of the whole loses none of them.
            unread += lost if possible else []
            return Struct(possible) if possible else STRING
        case Array(element):
            return Array(_with_possible_fields(element, (*place, ELEMENT), unread))
        case Map(value):
            return Map(_with_possible_fields(value, (*place, ELEMENT), unread))
    return found


def _below(found: ColumnType, place: Place) -> ColumnType | None:
    """The type at a place; None where the types end before it, or have no such field."""
    for name in place:
        found_below = _step(found, name)
        if found_below is None:
            return None
        found = found_below
    return found


def _held(record: Struct, place: Place) -> Place:
    """The place itself, or the place above it whose text holds it; empty where none does."""
    found: ColumnType = record
    for depth, name in enumerate(place):
        below = _step(found, name)
        if below is None:
            return () if isinstance(found, Struct) else place[:depth]
        found = below
    return place


def _step(found: ColumnType, name: str | None) -> ColumnType | None:
    match found:
        case Struct(fields):
            return next((each.type for each in fields if each.name == name), None)
        case Array(inner) | Map(inner):
            return inner if name is None else None
    return None
