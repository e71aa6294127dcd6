"""Connect's types: the columns of types that Connect and Debezium name. Pure.

In Scala: jobs/jvm/json/JsonConnect.scala, which reads their values in JSON.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sluice.columns.columns import MOST_DIGITS, Column, ColumnType, Decimal, Primitive
from sluice.columns.declared import Declared, possible

_TIMES, _CONNECTS = "io.debezium.time", "org.apache.kafka.connect.data"
_DECIMAL = f"{_CONNECTS}.Decimal"
_MOMENTS = ("Timestamp", "MicroTimestamp", "NanoTimestamp", "ZonedTimestamp", "IsoTimestamp")
_COLUMNS: Mapping[str, str] = {
    **{f"{_TIMES}.{each}": "DATE" for each in ("Date", "IsoDate")},
    **{f"{_TIMES}.{each}": "TIMESTAMP" for each in _MOMENTS},
    **{f"{_TIMES}.{each}": "STRING" for each in ("Time", "MicroTime", "NanoTime")},
    f"{_CONNECTS}.Date": "DATE",
    f"{_CONNECTS}.Timestamp": "TIMESTAMP",
    f"{_CONNECTS}.Time": "STRING",
    "io.debezium.data.VariableScaleDecimal": "STRING",
}


@dataclass(frozen=True)
class ConnectType:
    """A type by its name, the scale of a decimal, and the column that it means."""

    name: str
    scale: int
    column: ColumnType


def connect_type(name: Any, parameters: Any) -> ConnectType | None:
    """The type of this name, with the parameters of its schema; None for one of no meaning here."""
    given = parameters if isinstance(parameters, dict) else {}
    scale, digits = (str(given.get(each)) for each in ("scale", "connect.decimal.precision"))
    if name != _DECIMAL:
        column = _COLUMNS.get(str(name))
        return (column and ConnectType(str(name), 0, Primitive(column))) or None
    if not scale.isdecimal() or int(scale) > MOST_DIGITS:
        return None
    precision = min(int(digits) if digits.isdecimal() else MOST_DIGITS, MOST_DIGITS)
    return ConnectType(_DECIMAL, int(scale), Decimal(max(1, int(scale), precision), int(scale)))


def typed(
    record: Declared, types: Mapping[str, ConnectType], ours: Container[str] = ()
) -> Declared:
    """The record, of which fields have the columns that their types mean.

    `ours` are further names of Sluice's own.
    """
    found = possible([_typed(each, types) for each in record.fields], ours)
    others = [each for each in record.unread if each not in found.unread]
    held = [each for each in record.as_text if not {*each.place[:1]} & types.keys()]
    return replace(found, unread=(*found.unread, *others), as_text=tuple(held))


def _typed(field: Column, types: Mapping[str, ConnectType]) -> Column:
    known = types.get(field.name)
    return field if known is None else Column(field.name, known.column)
