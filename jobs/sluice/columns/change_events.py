"""Change events: the row that Debezium's envelope is about, and the columns beside it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sluice.columns.columns import Column, Primitive, Struct, parse_columns
from sluice.columns.connect_types import ConnectType, typed
from sluice.columns.declared import Declared, Note

MARKS = parse_columns("_op STRING, _source STRING, _source_time TIMESTAMP")
"""What an event says of its change: Sluice's own columns, beside those of the row."""
OURS = tuple(each.name for each in MARKS)
AFTER = "after"
PARTS = ("op", "source", "before", AFTER)
"""The fields of an event that are read."""
_SHOWN = 5


def with_marks(row: Declared) -> Declared:
    """The columns of a table of events, given those of the row."""
    return replace(row, columns=(*row.columns, *MARKS))


def row_of(event: Declared, types: Mapping[str, ConnectType]) -> Declared:
    """What the schema of an event says of the row. Raises ValueError for another schema.

    `types` are those that it names of the row's fields. Where the row is text, as MongoDB's
    connector writes it, it is the one column `after`.
    """
    names = [each.name for each in event.fields]
    found = next((each for each in event.fields if each.name == AFTER), None)
    match found and set(PARTS) <= {*names} and found.type:
        case Struct(fields):
            row = Declared((), _within(event.unread), _within(event.as_text), fields)
            return typed(row, types, OURS)
        case Primitive("STRING"):
            return Declared((Column(AFTER, Primitive("STRING")),), fields=(found,) if found else ())
    raise ValueError(
        f"envelope: expected the schema of a change event, with {', '.join(PARTS)}, whose field"
        f" {AFTER} has the row's columns, found {_listed(event.fields)}"
    )


def is_text(event: Declared) -> bool:
    """Whether the event's schema has the row as text."""
    return any(each == Column(AFTER, Primitive("STRING")) for each in event.fields)


def _within(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Those on the row's fields, as the row sees them."""
    return tuple(Note(each.place[1:], each.why) for each in notes if each.place[:1] == (AFTER,))


def _listed(fields: Sequence[Column]) -> str:
    names = ", ".join(each.name for each in fields[:_SHOWN])
    return f"the fields {names}{', …' if len(fields) > _SHOWN else ''}" if fields else "no fields"
