"""Column types: a spec's as Delta's schema has them, and those as Arrow's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
from sluice.columns.columns import Array, Column, ColumnType, Decimal, Map, Struct

_NAMES = {
    "STRING": "string",
    "BOOLEAN": "boolean",
    "TINYINT": "byte",
    "SMALLINT": "short",
    "INT": "integer",
    "BIGINT": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "BINARY": "binary",
}
_ARROW = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "binary": pa.binary(),
}

Field = dict[str, Any]
"""A field of Delta's schema."""


def schema_text(fields: Iterable[Field]) -> str:
    """The `schemaString` of a table with these fields."""
    return json.dumps({"type": "struct", "fields": list(fields)}, separators=(",", ":"))


def field_of(column: Column, comment: str | None = None) -> Field:
    """A column as a field of Delta's schema."""
    metadata = {"comment": comment} if comment else {}
    return {
        "name": column.name,
        "type": _delta(column.type),
        "nullable": True,
        "metadata": metadata,
    }


def _delta(kind: ColumnType) -> Any:
    match kind:
        case Decimal():
            return f"decimal({kind.precision},{kind.scale})"
        case Array():
            return {"type": "array", "elementType": _delta(kind.element), "containsNull": True}
        case Map():
            value = {"valueType": _delta(kind.value), "valueContainsNull": True}
            return {"type": "map", "keyType": "string", **value}
        case Struct():
            return {"type": "struct", "fields": [field_of(each) for each in kind.fields]}
    return _NAMES[kind.name]


def arrow_schema(fields: Iterable[Field]) -> pa.Schema:
    """The fields as Arrow's."""
    return pa.schema([(each["name"], _arrow(each["type"])) for each in fields])


def _arrow(kind: Any) -> pa.DataType:
    match kind:
        case {"type": "struct", "fields": fields}:
            return pa.struct([(each["name"], _arrow(each["type"])) for each in fields])
        case {"type": "array", "elementType": element}:
            return pa.list_(pa.field("element", _arrow(element)))
        case {"type": "map", "valueType": value}:
            return pa.map_(pa.string(), _arrow(value))
        case str(name) if name.startswith("decimal("):
            precision, scale = name.removeprefix("decimal(").removesuffix(")").split(",")
            return pa.decimal128(int(precision), int(scale))
    return _ARROW[kind]


def written(value: Any) -> str | None:
    """A partition's value as Delta's log has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def typed(values: Mapping[str, str | None], name: str, kind: pa.DataType, rows: int) -> pa.Array:
    """A partition's column of so many rows."""
    return pa.repeat(pa.scalar(values[name], pa.string()), rows).cast(kind)
