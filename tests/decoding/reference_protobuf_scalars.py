"""Protobuf scalars: values that the parser gives in another form than a row has them.

Each raises Misfit for a value that does not fit its column.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from sluice.columns.columns import Array, ColumnType, Map, Struct
from sluice.schemas.protobuf.columns import column_of

# The years 0001 to 9999, and what Protobuf's Duration may be, in seconds.
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_LONGEST = 315_576_000_000
_NANOS = 1_000_000_000
_MOST_SHOWN = 100
# Below it, each whole number is one DOUBLE.
_EXACT = 2**53


class Misfit(Exception):
    """A value that does not fit its column: where, expected, found."""

    def __init__(self, path: str, expected: str, found: str) -> None:
        super().__init__(path, expected, found)
        self.path, self.expected, self.found = path, expected, found

    def __str__(self) -> str:
        found = self.found
        if len(found) > _MOST_SHOWN + 2:
            end = '…"' if found.startswith('"') else "…"
            found = found[:_MOST_SHOWN] + end
        return f"{self.path}: expected {self.expected}, found {found}"

    def below(self, above: str) -> Misfit:
        """The same, of a value within another one."""
        joint = "." if self.path and not self.path.startswith("[") else ""
        return Misfit(f"{above}{joint}{self.path}", self.expected, self.found)


def require_nothing_passed_over(found: Message) -> None:
    """Raises Misfit where a field that the message has is among the unknown ones."""
    strangers = UnknownFieldSet(found)
    if not len(strangers):
        return
    declared = found.DESCRIPTOR.fields_by_number
    for each in strangers:
        field = declared.get(each.field_number)
        if field is not None:
            if field.enum_type is not None and each.wire_type == 0:
                raise Misfit(field.name, field.enum_type.full_name, str(each.data))
            wire_type = f"a value of wire type {each.wire_type}"
            column = column_of(field)
            raise Misfit(field.name, type_words(column.type), wire_type)


def enum_value(enum: EnumDescriptor) -> Callable[[int], str]:
    names: dict[int, str] = {}
    for each in enum.values:
        names.setdefault(each.number, each.name)

    def read(number: int) -> str:
        try:
            return names[number]
        except KeyError:
            raise Misfit("", enum.full_name, str(number)) from None

    return read


def text_value(found: Any) -> str:
    if isinstance(found, str):
        return found
    raise not_text(found)


def not_text(found: bytes) -> Misfit:
    return Misfit("", "STRING", json.dumps(found.decode(errors="replace"), ensure_ascii=False))


def timestamp_value(found: Any) -> int:
    """Microseconds since 1970; digits beyond them are cut."""
    require_nothing_passed_over(found)
    seconds, nanos = found.seconds, found.nanos
    if _FIRST_SECOND <= seconds <= _LAST_SECOND and 0 <= nanos < _NANOS:
        return int(seconds * 1_000_000 + nanos // 1000)
    raise Misfit("", "TIMESTAMP", _parts(found))


def duration_value(found: Any) -> Decimal:
    """Seconds."""
    require_nothing_passed_over(found)
    seconds, nanos = found.seconds, found.nanos
    if abs(seconds) <= _LONGEST and abs(nanos) < _NANOS and seconds * nanos >= 0:
        return Decimal(seconds * _NANOS + nanos).scaleb(-9)
    raise Misfit("", "DECIMAL(21,9)", _parts(found))


def _parts(found: Any) -> str:
    return json.dumps({"seconds": found.seconds, "nanos": found.nanos}, separators=(",", ":"))


def json_value(found: Message) -> str:
    """A Struct, Value or ListValue as JSON text; names are sorted: they have no order.

    Whole numbers are written without a fraction.
    """
    value = _plain(found)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _plain(found: Any) -> Any:
    require_nothing_passed_over(found)
    match found.DESCRIPTOR.name:
        case "Struct":
            return {name: _plain(each) for name, each in found.fields.items()}
        case "ListValue":
            return [_plain(each) for each in found.values]
    kind = found.WhichOneof("kind")
    if kind is None:
        return None
    if kind == "null_value":
        enum_value(found.DESCRIPTOR.fields_by_name[kind].enum_type)(found.null_value)
        return None
    if kind == "number_value":
        return _number(found.number_value)
    value = getattr(found, kind)
    return value if kind in ("string_value", "bool_value") else _plain(value)


def _number(found: float) -> float:
    if not math.isfinite(found):
        raise Misfit("", "a number that JSON has", str(found))
    return int(found) if found.is_integer() and abs(found) < _EXACT else found


def type_words(declared: ColumnType) -> str:
    """The type as errors name it: structs only by that word."""
    match declared:
        case Struct():
            return "STRUCT"
        case Array(element):
            return f"ARRAY<{type_words(element)}>"
        case Map(value):
            return f"MAP<STRING, {type_words(value)}>"
        case _:
            return str(declared)
