"""The type system, as far as Avro can express it."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession
from sluice.columns.columns import parse_columns
from sluice.schemas.avro.columns import avro_declared

from tests.decoding import reference_avro
from tests.decoding.avro_decoding import decoded_avro, fixed, logical, record, schema
from tests.decoding.decoding_table import NO
from tests.decoding.reference_json import Undecodable
from tests.decoding.type_table import NULLS, ROWS, Row

pytestmark = pytest.mark.spark

# A value as JSON has it, exactly, to Avro's bytes; None where the type cannot express it.
Encode = Callable[[Any], bytes | None]
_EXACT, _DAY_ONE = Context(prec=100), datetime(1970, 1, 1)
# Moments that Python has no value for, in seconds and days.
_BEFORE_ALL = {"0000-12-31T23:59:59Z": -62_135_596_801, "0000-01-01": -719_528}


class Kind(NamedTuple):
    """A type of Avro, and the column that it becomes."""

    type: str
    node: Any
    encode: Encode


def varint(number: int) -> bytes:
    """Zigzag, of any number of bits."""
    left, found = (number << 1 if number >= 0 else (-number << 1) - 1), bytearray()
    while left > 127:
        found.append(left & 127 | 128)
        left >>= 7
    return bytes([*found, left])


def integer(value: Any) -> bytes | None:
    return varint(value) if type(value) is int else None


def packed(form: str) -> Encode:
    def encode(value: Any) -> bytes | None:
        try:
            number = float(value)
            return None if math.isinf(number) else struct.pack(form, number)
        except OverflowError:
            return None

    return encode


def boolean(value: Any) -> bytes | None:
    return bytes([value]) if isinstance(value, bool) else None


def text(value: Any) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return varint(len(data)) + data


def unscaled(scale: int, size: int | None = None) -> Encode:
    """A decimal's digits; in `size` bytes, or in as many as they need, with their number."""

    def encode(value: Any) -> bytes | None:
        number = _EXACT.scaleb(Decimal(value), scale)
        if number != number.to_integral():
            return None
        return sized(int(number))

    def sized(number: int) -> bytes:
        data = number.to_bytes(size or number.bit_length() // 8 + 1, "big", signed=True)
        return data if size else varint(len(data)) + data

    return encode


def moment(per_second: int) -> Encode:
    """Only what the unit can hold, and a long."""

    def encode(value: Any) -> bytes | None:
        if value in _BEFORE_ALL:
            number: int = _BEFORE_ALL[value] * per_second
        else:
            found, cut = parsed(value)
            number, rest = divmod((found - _DAY_ONE) // timedelta(microseconds=1), 10**6)
            part, left = divmod(rest * 1000 + cut, 10**9 // per_second)
            number = number * per_second + part
            if left:
                return None
        return varint(number) if -(2**63) <= number < 2**63 else None

    return encode


def parsed(value: str) -> tuple[datetime, int]:
    """A moment in UTC, and its nanoseconds beyond microseconds."""
    fraction = re.search(r"\.(\d+)", value)
    nanos = fraction.group(1).ljust(9, "0") if fraction else "0" * 9
    plain = value if fraction is None else value.replace(fraction.group(0), f".{nanos[:6]}")
    found = datetime.fromisoformat(plain.replace("Z", "+00:00"))
    offset = found.utcoffset() or timedelta()
    return found.replace(tzinfo=None) - offset, int(nanos[6:])


def day(value: str) -> bytes:
    days = _BEFORE_ALL.get(value)
    return varint((date.fromisoformat(value) - date(1970, 1, 1)).days if days is None else days)


def optional(encode: Encode) -> Encode:
    """Of a union of null and a type."""

    def either(value: Any) -> bytes | None:
        found = b"" if value is None else encode(value)
        return found if found is None else varint(value is not None) + found

    return either


def listed(value: list[Any]) -> bytes:
    members = b"".join(optional(integer)(each) or b"" for each in value)
    return (varint(len(value)) + members if value else b"") + b"\0"


def mapped(value: Mapping[str, Any]) -> bytes:
    members = b"".join(text(k) + (optional(integer)(v) or b"") for k, v in value.items())
    return (varint(len(value)) + members if value else b"") + b"\0"


def structured(value: Mapping[str, Any]) -> bytes:
    parts = optional(integer)(value.get("a")), optional(text)(value.get("b"))
    return b"".join(each or b"" for each in parts)


def decimals(precision: int, scale: int, size: int) -> Iterator[Kind]:
    digits = {"precision": precision, "scale": scale}
    name = f"DECIMAL({precision},{scale})"
    yield Kind(name, logical("bytes", "decimal", **digits), unscaled(scale))
    node = logical(fixed(f"D{precision}", size), "decimal", **digits)
    yield Kind(name, node, unscaled(scale, size))


_INT = ["null", "int"]
KINDS = [
    Kind("INT", "int", integer),
    Kind("BIGINT", "long", integer),
    Kind("BOOLEAN", "boolean", boolean),
    Kind("FLOAT", "float", packed("<f")),
    Kind("DOUBLE", "double", packed("<d")),
    Kind("STRING", "string", text),
    Kind("DATE", logical("int", "date"), day),
    *(
        Kind("TIMESTAMP", logical("long", f"{local}timestamp-{unit}"), moment(per_second))
        for unit, per_second in (("millis", 10**3), ("micros", 10**6), ("nanos", 10**9))
        for local in ("", "local-")
    ),
    *decimals(5, 2, 3),
    *decimals(20, 0, 9),
    *decimals(38, 0, 17),
    Kind("ARRAY<INT>", {"type": "array", "items": _INT}, listed),
    Kind("MAP<STRING, INT>", {"type": "map", "values": _INT}, mapped),
    Kind(
        "STRUCT<a: INT, b: STRING>",
        record({"a": _INT, "b": ["null", "string"]}, "a.Pair"),
        structured,
    ),
]
WHOLE = record({f"c{n}": ["null", each.node] for n, each in enumerate(KINDS)})
UNREADABLE = {"2013-02-30T05:00:00Z", "2013-02-29"}


class Case(NamedTuple):
    """A record, and the row that it has to become."""

    column: str
    body: bytes
    row: Row


def cases() -> Iterator[Case]:
    for place, kind in enumerate(KINDS):
        for row in (*ROWS, *NULLS):
            value = json.loads(row.text, parse_float=Decimal)
            if row.type != kind.type or expresses_not(kind, value):
                continue
            body = None if value is None else kind.encode(value)
            if body is None and value is not None:
                continue
            before, after = b"\0" * place, b"\0" * (len(KINDS) - place - 1)
            given = b"\0" if body is None else b"\x02" + body
            yield Case(f"c{place}", before + given + after, row)


def expresses_not(kind: Kind, value: Any) -> bool:
    """A value of another kind, such as text for a number, and days that no calendar has."""
    if value is None:
        return False
    is_text = kind.type in ("STRING", "DATE", "TIMESTAMP")
    if isinstance(value, str) is not is_text or isinstance(value, bool) is not (
        kind.type == "BOOLEAN"
    ):
        return True
    return is_text and value in UNREADABLE


CASES = [*cases()]


def test_each_type_becomes_its_column() -> None:
    declared = ", ".join(f"c{n} {each.type}" for n, each in enumerate(KINDS))
    assert avro_declared(schema(WHOLE)).columns == parse_columns(declared)


def test_avro_has_the_type_system(spark: SparkSession) -> None:
    found = decoded_avro(spark, schema(WHOLE), [each.body for each in CASES])
    for case, ours in zip(CASES, found, strict=True):
        reference = reference_avro.decode(case.body, json.dumps(WHOLE))
        # fastavro does not see that a long has more than 64 bits.
        seen = case.row.type != "BIGINT" or case.row.value is not NO
        for who, outcome in (("Spark", ours), ("reference", reference if seen else ours)):
            told = f"{who}: {case.column} {case.row} gave {str(outcome)[:300]}"
            if case.row.value is NO:
                assert isinstance(outcome, Undecodable), told
            else:
                assert isinstance(outcome, dict), told
                assert outcome[case.column] == case.row.value, told
                assert type(outcome[case.column]) is type(case.row.value), told
        if isinstance(ours, Undecodable):
            assert re.match(rf"{case.column}[\w.\[\]\"]*: expected .+, found .", ours.reason), ours


def test_what_fits_no_column_is_among_the_rows() -> None:
    refused = {each.row.type for each in CASES if each.row.value is NO}
    assert refused == {each.type for each in KINDS} - {
        *("BOOLEAN", "FLOAT", "DOUBLE", "DECIMAL(20,0)")
    }
