"""Remarks: what a column's sample values may mean, beyond the type that takes them. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sluice.columns.columns import Column, ColumnType, Primitive, Struct
from sluice.columns.names import quoted
from sluice.schemas.inference import Object, Real, Whole, is_date, parse_object

# The seconds of the years 2000 to 2049: as other units, no such number is a moment of those years.
_FIRST, _END = 946_684_800, 2_524_608_000
_NAMES = {1: "s", 10**3: "ms", 10**6: "us", 10**9: "ns"}
_UNITS = {
    1: ("seconds", "timestamp_seconds({})"),
    10**3: ("milliseconds", "timestamp_millis({})"),
    10**6: ("microseconds", "timestamp_micros({})"),
    # What `div` leaves out of a negative number would be a later moment.
    10**9: ("nanoseconds", "timestamp_micros(if({0} < 0, try_subtract({0}, 999), {0}) div 1000)"),
}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.([0-9]{1,18}))?")
# A sample may be written with an older schema, which had a text there.
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def remarks_on(columns: Iterable[Column], objects: Sequence[Object]) -> Iterator[str]:
    """One for each column, or field of a STRUCT, whose values seem to mean more than that."""
    yield from _of_fields("", columns, objects)


def _of_fields(path: str, fields: Iterable[Column], objects: Sequence[Object]) -> Iterator[str]:
    for field in fields:
        name = field.name if _PLAIN.fullmatch(field.name) else quoted(field.name)
        found = [each[field.name] for each in objects if each.get(field.name) is not None]
        yield from _of_values(path + name, field.type, found)


def _of_values(path: str, declared: ColumnType, found: Sequence[Any]) -> Iterator[str]:
    if isinstance(declared, Struct):
        objects = [each for each in found if isinstance(each, dict)]
        yield from _of_fields(f"{path}.", declared.fields, objects)
    elif declared == Primitive("BIGINT") and all(_WHOLE.fullmatch(str(each)) for each in found):
        yield from _of_numbers(path, found)
    elif declared == Primitive("STRING") and found:
        kinds = {*map(type, found)}
        if kinds == {str}:
            yield from _of_texts(path, found)
        elif str in kinds and kinds <= {str, Whole, Real}:
            yield _of_both(path, found)


def unit_of(found: Sequence[Whole]) -> str:
    """What the numbers seem to count since 1970, as the spec's `unit` has it; else empty."""
    return next((name for factor, name in _NAMES.items() if _are_moments(found, factor)), "")


def _are_moments(found: Sequence[Whole], factor: int) -> bool:
    return bool(found) and all(_FIRST * factor <= int(each) < _END * factor for each in found)


def _of_numbers(path: str, found: Sequence[Whole]) -> Iterator[str]:
    for factor, (unit, function) in _UNITS.items():
        if _are_moments(found, factor):
            derived = _derived(path, "time", function.format(path))
            yield f"{path} looks like {unit} since 1970: {derived}"


def _of_texts(path: str, found: Sequence[str]) -> Iterator[str]:
    if all(map(_is_object, found)):
        yield (
            f"{path} has JSON objects as text: `at` in format lands what one holds in place of the"
            " record, and from_json in derived takes fields out of it."
        )
    numbers = [_NUMBER.fullmatch(each) for each in found]
    if all(map(is_date, found)):
        yield f"{path} looks like a date: declare it as DATE if all records have one there."
    elif all(numbers):
        wanted = _type_of([each for each in numbers if each])
        derived = _derived(path, "number", f"try_cast({path} AS {wanted})")
        yield f"{path} has numbers as text: {derived}"


def _of_both(path: str, found: Sequence[str]) -> str:
    """A remark on numbers beside texts. A number in quotes has the same JSON text as the number."""
    numbers = [match for each in found if (match := _NUMBER.fullmatch(each))]
    derived = _derived(path, "number", f"try_cast({path} AS {_type_of(numbers)})")
    others = "" if len(numbers) == len(found) else "; null where it has another text"
    return f"{path} has numbers, and texts as well: {derived}{others}"


def _type_of(numbers: Sequence[re.Match[str]]) -> str:
    places = max((len(each[1] or "") for each in numbers), default=0)
    return f"DECIMAL(38,{places})" if places else "BIGINT"


def _is_object(text: str) -> bool:
    try:
        return bool(parse_object(text.encode()))
    except ValueError:
        return False


def _derived(path: str, meaning: str, expression: str) -> str:
    """The key of a spec that adds such a column."""
    name = "_".join(re.findall(r"[A-Za-z0-9]+", path)).lower()
    name = f"{name}_{meaning}" if name else meaning
    return f"derived: {{{json.dumps(name)}: {json.dumps(expression, ensure_ascii=False)}}}"
