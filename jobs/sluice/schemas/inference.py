"""Inference: the columns that sample objects suggest. None would be quarantined under them.

Without a JVM: the JSON reader and the texts of dates and moments here must stay in step with those
of jobs/jvm/json (JsonText, JsonTimes); tests/unit/schemas/test_inference.py asks the reference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

from sluice.columns.columns import Array, Column, ColumnType, Primitive, Struct, parse_columns
from sluice.columns.names import as_compared, is_ours, written
from sluice.schemas.json_flaws import flaw_of, flaw_of_encoding

# What lake.decoding refuses.
_MAX_NESTING = 1_000
# Deeper parts, and objects of more fields, stay JSON text: such names are data, not columns.
_DEEPEST_TYPE = 10
_MOST_FIELDS = 100
_FEWEST_DATES = 3
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))?"
)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Each escape as a whole; a surrogate without its other half is the group.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)

Object = Mapping[str, Any]


class Whole(str):
    """A number without fraction and exponent, as written."""


class Real(str):
    """A number with a fraction or an exponent, as written."""


@dataclass(frozen=True)
class Inferred:
    """Columns of sample objects, and why each other name is not the name of one."""

    columns: tuple[Column, ...]
    left_out: Mapping[str, str]

    @property
    def schema_text(self) -> str:
        """The columns as a spec's `schema` has them, one on each line."""
        return ",\n".join(f"{written(each.name)} {_type_text(each.type)}" for each in self.columns)


def parse_object(value: bytes) -> Object:
    """One JSON object, as strictly as records are decoded. Raises ValueError with the reason."""
    found = parse_value(value)
    if not isinstance(found, dict):
        raise ValueError(flaw_of(value))
    return found


def parse_value(value: bytes) -> Any:
    """One JSON value, read as strictly. Raises ValueError with the reason, as of an object."""
    try:
        text = value.decode("utf-8", errors="strict")
    except UnicodeDecodeError as problem:
        raise ValueError(flaw_of_encoding(value, problem.start)) from None
    # In the text, as a repeated name hides the values before the last one.
    if any(escape[1] for escape in _ESCAPE.finditer(text)):
        raise ValueError("a lone surrogate escape")
    try:
        found = json.loads(text, parse_int=Whole, parse_float=Real, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError(flaw_of(value)) from None
    if _is_too_deep(found):
        raise ValueError(flaw_of(value))
    return found


def infer_columns(objects: Iterable[Object], ours: Container[str] = ()) -> Inferred:
    """The columns of these objects, in the order in which their names first appear.

    `ours` are further names of Sluice's own.
    """
    by_name = _by_name(objects)
    columns: dict[str, Column] = {}
    left_out = {}
    for name, values in by_name.items():
        compared = as_compared(name)
        if is_ours(name, ours):
            left_out[name] = "Sluice has its own column of this name"
        elif not _may_be_column(name):
            left_out[name] = "a column's name cannot hold such characters"
        elif compared in columns:
            left_out[name] = f"it differs from {columns[compared].name} only in case"
        else:
            columns[compared] = Column(name, _type_of(values, 0))
    return Inferred(tuple(columns.values()), left_out)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _is_too_deep(found: Any) -> bool:
    level = [found] if isinstance(found, dict | list) else []
    for _ in range(_MAX_NESTING):
        parts = [list(each.values()) if isinstance(each, dict) else each for each in level]
        level = [part for each in parts for part in each if isinstance(part, dict | list)]
    return bool(level)


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
        return bool(parse_columns(f"{written(name)} STRING"))
    except ValueError:
        return False


def _type_of(values: Iterable[Any], depth: int) -> ColumnType:
    """STRING takes any value, as its JSON text, so it is the answer wherever values differ."""
    found = [each for each in values if each is not None]
    kinds = set(map(type, found))
    if kinds == {bool}:
        return Primitive("BOOLEAN")
    if kinds and kinds <= {Whole, Real}:
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
    if any(isinstance(each, Whole) and not _fits_bigint(each) for each in found):
        return "STRING"
    if all(isinstance(each, Whole) for each in found):
        return "BIGINT"
    return "DOUBLE" if all(abs(float(each)) < float("inf") for each in found) else "STRING"


def _fits_bigint(number: str) -> bool:
    return len(number) <= 20 and -(2**63) <= int(number) < 2**63


def _text(found: Sequence[str]) -> str:
    # One or two may be a version, such as 2023-10-16, which later is 2024-06-20.acacia.
    if all(map(is_date, found)):
        return "DATE" if len(set(found)) >= _FEWEST_DATES else "STRING"
    return "TIMESTAMP" if all(map(_is_timestamp, found)) else "STRING"


def is_date(text: str) -> bool:
    """Whether a DATE column takes the text."""
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
        fields = (f"{written(each.name)}: {_type_text(each.type)}" for each in declared.fields)
        return f"STRUCT<{', '.join(fields)}>"
    return str(declared)
