"""Change events among samples: the row that Debezium's are about, and how deletes look. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sluice.columns.change_events import AFTER
from sluice.columns.columns import (
    Array,
    Column,
    ColumnType,
    Map,
    Primitive,
    Struct,
)
from sluice.columns.connect_types import connect_type
from sluice.columns.declared import possible
from sluice.columns.envelopes import Envelope, ours
from sluice.operations.peek.remarks import unit_of
from sluice.schemas.inference import Inferred, Object, infer_columns

STRANGER = "expected a change event of Debezium, found another object"
_UNTYPED = (
    "Days and decimals look like other numbers and texts, as Debezium writes them: a DATE takes the"
    " days, and `columns` with encoding: connect_decimal the decimals."
)
_OPS = ("c", "u", "r", "d", "t", "m")
_PARTS = frozenset({"before", AFTER, "message"})
_MARKS = frozenset({"source", "ts_ms"})
_MODE = "delete.tombstone.handling.mode"
_TYPES = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "float": "FLOAT",
    "float32": "FLOAT",
    "double": "DOUBLE",
    "float64": "DOUBLE",
    "boolean": "BOOLEAN",
    "string": "STRING",
    "bytes": "BINARY",
}


@dataclass(frozen=True)
class Enveloped:
    """The rows in an envelope, the columns that take them, and those that are numbers of a unit."""

    envelope: Envelope
    rows: Sequence[Object]
    inferred: Inferred
    typed: bool
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def remark(self) -> str:
        """What their values do not show, where no schema says it."""
        return "" if self.typed else _UNTYPED


def is_wrapped(found: Object) -> bool:
    """Whether it is Connect's wrapper of a row, or of a null."""
    parts = (found.get("schema"), found.get("payload"))
    return found.keys() == {"schema", "payload"} and all(
        each is None or isinstance(each, dict) for each in parts
    )


def payload_of(found: Object) -> Object:
    """What Connect's wrapper holds; the object itself where there is none."""
    payload = found.get("payload")
    return payload if is_wrapped(found) and isinstance(payload, dict) else found


def is_event(found: Object) -> bool:
    """Whether it is a change event, wrapped or not."""
    payload = payload_of(found)
    named = payload.get("op") in _OPS
    return named and all(each & payload.keys() for each in (_PARTS, _MARKS))


def events_of(objects: Sequence[Object]) -> Enveloped | None:
    """The events, where most objects are some, and their row has a column."""
    events = [each for each in objects if is_event(each)]
    if not events or 2 * len(events) < len(objects):
        return None
    states = [_state(payload_of(each)) for each in events]
    rows = [each for each in states if isinstance(each, dict)]
    if not rows and any(isinstance(each, str) for each in states):
        text = Inferred((Column(AFTER, Primitive("STRING")),), {})
        return Enveloped("debezium", (), text, True)
    return _enveloped("debezium", rows, next(filter(None, map(_fields, reversed(events))), []))


def rows_of(objects: Sequence[Object], has_nulls: bool) -> Enveloped | None:
    """The rows in Connect's wrapper, where most objects are some, and have a column.

    Where a text is null, as Connect alone writes it, all objects are rows.
    """
    wrapped = [each for each in objects if is_wrapped(each)]
    rows = [each["payload"] for each in wrapped if each["payload"] is not None]
    if not rows or 2 * len(wrapped) < len(objects):
        return _enveloped("connect", objects, []) if has_nulls and not wrapped else None
    schemas = (_listed(each["schema"]) for each in reversed(wrapped))
    return _enveloped("connect", rows, next(filter(None, schemas), []))


def _enveloped(
    envelope: Envelope, rows: Sequence[Object], fields: Sequence[dict[str, Any]]
) -> Enveloped | None:
    if fields:
        columns = (Column(each["field"], _type(each)) for each in fields)
        declared = possible(columns, ours(envelope))
        left_out = {str(each.place[0]): each.why for each in declared.unread if each.place}
        found, units = Inferred(declared.columns, left_out), {}
    else:
        found = infer_columns(rows, ours(envelope))
        units = dict(_units(found.columns, rows))
    return Enveloped(envelope, rows, found, bool(fields), units) if found.columns else None


def _state(event: Object) -> Any:
    return event.get("before" if event["op"] == "d" else AFTER)


def _units(columns: Iterable[Column], rows: Sequence[Object]) -> Iterator[tuple[str, str]]:
    for each in columns:
        values = [row[each.name] for row in rows if row.get(each.name) is not None]
        if each.type == Primitive("BIGINT") and (unit := unit_of(values)):
            yield each.name, unit


def _fields(event: Object) -> list[dict[str, Any]]:
    """The row's fields in Connect's schema of the record; none without it."""
    for side in _listed(event.get("schema")):
        if side.get("field") == AFTER and (found := _listed(side)):
            return found
    return []


def _listed(schema: Any) -> list[dict[str, Any]]:
    fields = schema.get("fields") if isinstance(schema, dict) else None
    listed = fields if isinstance(fields, list) else []
    return [
        each for each in listed if isinstance(each, dict) and isinstance(each.get("field"), str)
    ]


def _type(schema: Any) -> ColumnType:
    """The column of a type in Connect's schema; STRING, which takes any value, where it is open."""
    found = schema if isinstance(schema, dict) else {}
    if known := connect_type(found.get("name"), found.get("parameters")):
        return known.column
    match found.get("type"):
        case "array":
            return Array(_type(found.get("items")))
        case "map" if _type(found.get("keys")) == Primitive("STRING"):
            return Map(_type(found.get("values")))
        case "struct" if parts := _listed(found):
            return Struct(tuple(Column(each["field"], _nested(each)) for each in parts))
        case other:
            return Primitive(_TYPES.get(str(other), "STRING"))


def _nested(schema: dict[str, Any]) -> ColumnType:
    """Only at the top are types known by their names."""
    return _type({key: each for key, each in schema.items() if key != "name"})


def deletes_among(objects: Sequence[Object], tombstones: int) -> str:
    """How deletes look in events that ExtractNewRecordState has taken apart."""
    rows = [each for each in objects if not (is_wrapped(each) and each["payload"] is None)]
    tombstones += len(objects) - len(rows)
    if all("__deleted" in payload_of(each) for each in rows):
        mode = "rewrite-with-tombstone" if tombstones else "rewrite"
        after = ", and a tombstone follows" if tombstones else ""
        return f"A deleted row has __deleted: true{after} ({_MODE}: {mode})."
    if tombstones:
        return f"A delete is a tombstone, of which only the key says the row ({_MODE}: tombstone)."
    return f"No delete is among them; with {_MODE}: drop there is never one."
