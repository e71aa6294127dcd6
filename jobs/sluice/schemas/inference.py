"""Inference: the columns that sample records suggest. No sample would be quarantined under them.

Without a JVM: the JSON reader and the texts of dates and moments here must stay in step with those
of jobs/jvm/json (JsonText, JsonTimes); tests/unit/schemas/test_inference.py asks the reference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

from sluice.columns.columns import Array, Column, ColumnType, Primitive, Struct, parse_columns
from sluice.columns.names import as_compared, is_ours, quoted

# What lake.decoding refuses: deeper values, and longer names (of 2 UTF-16 units a character).
_MAX_NESTING = 1_000
_MAX_NAME = 25_000
# Deeper parts, and objects of more fields, stay JSON text: such names are data, not columns.
_DEEPEST_TYPE = 10
_MOST_FIELDS = 100
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))?"
)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

Object = Mapping[str, Any]


class _Whole(str):
    """A number without fraction and exponent, as written."""


class _Real(str):
    """A number with a fraction or an exponent, as written."""


@dataclass(frozen=True)
class Inferred:
    """Columns of sample objects, and the names that cannot be columns of a table."""

    columns: tuple[Column, ...]
    left_out: tuple[str, ...]

    @property
    def schema_text(self) -> str:
        """The columns as a spec's `schema` has them, one on each line."""
        return ",\n".join(f"{_written(each.name)} {_type_text(each.type)}" for each in self.columns)


def parse_object(value: bytes) -> Object:
    """One JSON object, as strictly as records are decoded. Raises ValueError with the reason."""
    text = value.decode("utf-8", errors="strict")
    # In the text, as a repeated name hides the values before the last one.
    if _SURROGATE.search(_PAIR.sub("", text.replace("\\\\", ""))):
        raise ValueError("a lone surrogate escape")
    try:
        found = json.loads(text, parse_int=_Whole, parse_float=_Real, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError("not one JSON object")
    _require_decodable(found)
    return found


def infer_columns(objects: Iterable[Object]) -> Inferred:
    """The columns of these objects, in the order in which their names first appear."""
    by_name = _by_name(objects)
    columns: dict[str, Column] = {}
    left_out = []
    for name, values in by_name.items():
        compared = as_compared(name)
        if is_ours(name) or compared in columns or not _may_be_column(name):
            left_out.append(name)
        else:
            columns[compared] = Column(name, _type_of(values, 0))
    return Inferred(tuple(columns.values()), tuple(left_out))


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _require_decodable(found: Any) -> None:
    waiting = [(found, 1)]
    while waiting:
        each, depth = waiting.pop()
        if depth > _MAX_NESTING and isinstance(each, dict | list):
            raise ValueError("nested too deeply")
        if isinstance(each, dict):
            if any(len(name) > _MAX_NAME for name in each):
                raise ValueError("a name is too long")
            waiting += [(part, depth + 1) for part in each.values()]
        elif isinstance(each, list):
            waiting += [(part, depth + 1) for part in each]


def _by_name(objects: Iterable[Object]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for each in objects:
        for name, value in each.items():
            found.setdefault(name, []).append(value)
    return found


def _may_be_column(name: str) -> bool:
    if not name.isprintable():
        return False
    try:
        return bool(parse_columns(f"{_written(name)} STRING"))
    except ValueError:
        return False


def _type_of(values: Iterable[Any], depth: int) -> ColumnType:
    """STRING takes any value, as its JSON text, so it is the answer wherever values differ."""
    found = [each for each in values if each is not None]
    kinds = set(map(type, found))
    if kinds == {bool}:
        return Primitive("BOOLEAN")
    if kinds and kinds <= {_Whole, _Real}:
        return Primitive(_number(found))
    if kinds == {str}:
        return Primitive(_text(found))
    if kinds == {list} and depth < _DEEPEST_TYPE:
        return Array(_type_of([part for each in found for part in each], depth + 1))
    if kinds == {dict} and depth < _DEEPEST_TYPE:
        return _struct(found, depth + 1)
    return Primitive("STRING")


def _number(found: Sequence[str]) -> str:
    # Beyond 64 bits a DOUBLE would round what may be an id.
    if any(isinstance(each, _Whole) and not _fits_bigint(each) for each in found):
        return "STRING"
    if all(isinstance(each, _Whole) for each in found):
        return "BIGINT"
    return "DOUBLE" if all(abs(float(each)) < float("inf") for each in found) else "STRING"


def _fits_bigint(number: str) -> bool:
    return len(number) <= 20 and -(2**63) <= int(number) < 2**63


def _text(found: Sequence[str]) -> str:
    if all(map(_is_date, found)):
        return "DATE"
    return "TIMESTAMP" if all(map(_is_timestamp, found)) else "STRING"


def _is_date(text: str) -> bool:
    parts = _DATE.fullmatch(text)
    try:
        return parts is not None and bool(date(*map(int, parts.groups())))
    except ValueError:
        return False


def _is_timestamp(text: str) -> bool:
    parts = _TIMESTAMP.fullmatch(text)
    if parts is None:
        return False
    *moment, sign, hours, minutes = parts.groups()
    if minutes and int(minutes) > 59:
        return False
    try:
        ahead = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        zone = timezone(-ahead if sign == "-" else ahead)
        year, month, day, hour, minute, second = map(int, moment)
        datetime(year, month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return False
    return True


def _struct(found: Sequence[Object], depth: int) -> ColumnType:
    by_name = _by_name(found)
    apart = len({as_compared(name) for name in by_name}) == len(by_name)
    if not 0 < len(by_name) <= _MOST_FIELDS or not apart or not all(map(_may_be_column, by_name)):
        return Primitive("STRING")
    return Struct(tuple(Column(name, _type_of(each, depth)) for name, each in by_name.items()))


def _type_text(declared: ColumnType) -> str:
    if isinstance(declared, Array):
        return f"ARRAY<{_type_text(declared.element)}>"
    if isinstance(declared, Struct):
        fields = (f"{_written(each.name)}: {_type_text(each.type)}" for each in declared.fields)
        return f"STRUCT<{', '.join(fields)}>"
    return str(declared)


def _written(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else quoted(name)
