"""Stored columns: those of a Delta table, as a spec would declare them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from deltalake import DeltaTable

from sluice.columns.columns import (
    Array,
    Column,
    ColumnType,
    Decimal,
    Map,
    Primitive,
    Struct,
)

# Delta's own names (Delta's protocol, "Primitive Types"), and those of a spec.
_PRIMITIVES = {
    "string": "STRING",
    "boolean": "BOOLEAN",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "binary": "BINARY",
    "variant": "VARIANT",
}


def stored_columns(table: DeltaTable) -> tuple[Column, ...]:
    """The table's columns, in order."""
    return _columns(json.loads(table.schema().to_json())["fields"])


def _columns(fields: list[Mapping[str, Any]]) -> tuple[Column, ...]:
    return tuple(Column(each["name"], _type(each["type"])) for each in fields)


def _type(stored: Any) -> ColumnType:
    match stored:
        case {"type": "struct", "fields": fields}:
            return Struct(_columns(fields))
        case {"type": "array", "elementType": element}:
            return Array(_type(element))
        case {"type": "map", "valueType": value}:
            return Map(_type(value))
        case str(name) if name.startswith("decimal("):
            precision, scale = name.removeprefix("decimal(").removesuffix(")").split(",")
            return Decimal(int(precision), int(scale))
    # A type that no spec can declare, such as timestamp_ntz, keeps Delta's name.
    return Primitive(_PRIMITIVES.get(str(stored), str(stored).upper()))
