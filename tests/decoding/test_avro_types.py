"""Every type of Avro becomes its column, and a value that does not fit says where."""

from __future__ import annotations

import json
import struct
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.decoding import reference_avro
from tests.decoding.avro_decoding import (
    AvroTable,
    decoded_avro,
    decoded_avro_tables,
    encoded,
    fixed,
    framed,
    logical,
    record,
    schema,
)
from tests.decoding.decoding import Outcome
from tests.decoding.reference_json import Undecodable

pytestmark = pytest.mark.spark


INNER = record({"x": logical("int", "date"), "y": ["null", "string"]}, "a.Inner")
# Each type with a plain value as it is written, and what the column has.
TYPES: list[tuple[Any, Any, Any]] = [
    ("boolean", True, True),
    ("int", -(2**31), -(2**31)),
    ("long", 2**63 - 1, 2**63 - 1),
    ("float", 0.5, 0.5),
    ("double", 0.1, 0.1),
    ("double", float("inf"), float("inf")),
    ("bytes", b"\xff\0", b"\xff\0"),
    ("string", "é𝄞", "é𝄞"),
    (["null", "long"], None, None),
    (["long", "null"], 5, 5),
    (["string"], "a", "a"),
    (["int", "long"], 5, 5),
    (["float", "double"], 0.5, 0.5),
    (["null", "int", "string"], "a", {"member0": None, "member1": "a"}),
    (["int", "null", "boolean"], 7, {"member0": 7, "member1": None}),
    (["int", "null", "boolean"], None, None),
    (
        ["string", INNER],
        {"x": 1, "y": None},
        {"member0": None, "member1": {"x": date(1970, 1, 2), "y": None}},
    ),
    ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B", "B"),
    (fixed("F", 3), b"abc", b"abc"),
    (logical("bytes", "decimal", precision=5, scale=2), b"\x7b", Decimal("1.23")),
    (logical("bytes", "decimal", precision=38, scale=38), b"\xff", Decimal(-1).scaleb(-38)),
    (logical(fixed("D", 8), "decimal", precision=18, scale=0), b"\xff" * 8, Decimal(-1)),
    (
        logical(fixed("D", 20), "decimal", precision=38, scale=2),
        b"\0" * 19 + b"\1",
        Decimal("0.01"),
    ),
    (logical("int", "date"), -719_162, date(1, 1, 1)),
    (logical("int", "date"), 2_932_896, date(9999, 12, 31)),
    (logical("int", "time-millis"), 86_399_999, "23:59:59.999000"),
    (logical("long", "time-micros"), 1, "00:00:00.000001"),
    (logical("long", "time-micros"), 3_600_000_000, "01:00:00"),
    (logical("long", "timestamp-millis"), -62_135_596_800_000, datetime(1, 1, 1)),
    (
        logical("long", "timestamp-micros"),
        253_402_300_799_999_999,
        datetime(9999, 12, 31, 23, 59, 59, 999_999),
    ),
    (logical("long", "timestamp-nanos"), -1, datetime(1969, 12, 31, 23, 59, 59, 999_999)),
    (logical("long", "timestamp-nanos"), -(2**63), datetime(1677, 9, 21, 0, 12, 43, 145_224)),
    (logical("long", "local-timestamp-millis"), 1, datetime(1970, 1, 1, 0, 0, 0, 1000)),
    (logical("long", "local-timestamp-micros"), 1, datetime(1970, 1, 1, 0, 0, 0, 1)),
    (logical("long", "local-timestamp-nanos"), 1999, datetime(1970, 1, 1, 0, 0, 0, 1)),
    (logical("string", "uuid"), "not looked at", "not looked at"),
    (logical(fixed("U", 16), "uuid"), bytes(range(16)), "00010203-0405-0607-0809-0a0b0c0d0e0f"),
    (
        logical(fixed("P", 12), "duration"),
        struct.pack("<III", 1, 2, 2**32 - 1),
        {"months": 1, "days": 2, "milliseconds": 2**32 - 1},
    ),
    (
        {"type": "array", "items": ["null", logical("int", "date")]},
        [0, None],
        [date(1970, 1, 1), None],
    ),
    ({"type": "map", "values": logical("int", "time-millis")}, {"é": 0}, {"é": "00:00:00"}),
    (
        {"type": "array", "items": {"type": "map", "values": INNER}},
        [{"k": {"x": 0, "y": "b"}}],
        [{"k": {"x": date(1970, 1, 1), "y": "b"}}],
    ),
    (logical("int", "unheard-of"), 3, 3),
    (logical("string", "date"), "x", "x"),
]


def plain(found: Any) -> Any:
    """Without logical types, as fastavro is to write it."""
    return json.loads(json.dumps(found).replace('"logicalType"', '"was"'))


def test_every_type_becomes_its_column(spark: SparkSession) -> None:
    """In one record, so in one Spark job; named types get names of their own."""
    fields = {f"c{n}": renamed(each, n) for n, (each, _, _) in enumerate(TYPES)}
    whole = record(fields)
    body = encoded(plain(whole), {f"c{n}": value for n, (_, value, _) in enumerate(TYPES)})
    expected = {f"c{n}": column for n, (_, _, column) in enumerate(TYPES)}
    (found,) = decoded_avro(spark, schema(whole), [body])
    assert found == expected
    assert reference_avro.decode(body, json.dumps(whole)) == expected


def renamed(found: Any, number: int) -> Any:
    """With names that no other of the types has."""
    text = json.dumps(found).replace('"a.Inner"', f'"a.Inner{number}"')
    kind = '"type": "fixed", "name": "'
    return json.loads(text.replace(kind, f"{kind}N{number}"))


MISFITS: list[tuple[Any, Any, str]] = [
    (logical("int", "date"), 2_932_897, "x: expected DATE, found 2932897"),
    (logical("int", "date"), -719_163, "x: expected DATE, found -719163"),
    (logical("int", "time-millis"), 86_400_000, "x: expected a time of day, found 86400000"),
    (logical("long", "time-micros"), -1, "x: expected a time of day, found -1"),
    (logical("long", "timestamp-millis"), 2**63 - 1, f"x: expected TIMESTAMP, found {2**63 - 1}"),
    (
        logical("long", "timestamp-micros"),
        253_402_300_800_000_000,
        "x: expected TIMESTAMP, found 253402300800000000",
    ),
    (
        logical("bytes", "decimal", precision=3, scale=1),
        b"\x7f\xff",
        "x: expected DECIMAL(3,1), found 3276.7",
    ),
    (
        logical("bytes", "decimal", precision=3, scale=1),
        b"\x01" + b"\0" * 7 + b"\x05",  # its last 64 bits alone would fit
        "x: expected DECIMAL(3,1), found 1844674407370955162.1",
    ),
    (
        {"type": "array", "items": logical("int", "date")},
        [0, 2**31 - 1],
        f"x[1]: expected DATE, found {2**31 - 1}",
    ),
    (
        {"type": "map", "values": INNER},
        {'k"': {"x": 2**31 - 1, "y": None}},
        f'x["k\\""].x: expected DATE, found {2**31 - 1}',
    ),
]


BODIES = [encoded(plain(record({"x": kind})), {"x": value}) for kind, value, _ in MISFITS]


@pytest.fixture(scope="module")
def misfits(spark: SparkSession) -> list[list[Outcome]]:
    kinds = [schema(record({"x": kind})) for kind, _, _ in MISFITS]
    tables = [AvroTable(each, [body]) for each, body in zip(kinds, BODIES, strict=True)]
    # Spark computes wider frames in another way than a pipeline's.
    parts = (tables[start : start + 5] for start in range(0, len(tables), 5))
    return [found for part in parts for found in decoded_avro_tables(spark, part)]


@pytest.mark.parametrize("number", range(len(MISFITS)))
def test_a_value_that_does_not_fit_says_where(misfits: list[list[Outcome]], number: int) -> None:
    kind, _, error = MISFITS[number]
    assert misfits[number] == [Undecodable(error)]
    text = json.dumps(record({"x": kind}))
    assert isinstance(reference_avro.decode(BODIES[number], text), Undecodable)


def test_of_several_errors_the_bytes_come_first_then_the_first_column(spark: SparkSession) -> None:
    day = logical("int", "date")
    whole = {"a": {"type": "array", "items": day}, "b": day, "c": "int"}
    late = encoded(plain(record(whole)), {"a": [0, 2_932_897], "b": 2_932_898, "c": 1})
    turned = schema(record({"b": day, "a": whole["a"]}), "9")
    writers = {"1": schema(record(whole))}
    values = [framed(1, late), framed(1, late[:-1]), framed(1, late + b"x")]
    assert decoded_avro(spark, turned, values, writers) == [
        Undecodable("schema id 1: b: expected DATE, found 2932898"),
        Undecodable("schema id 1: c: expected a number, found the end of the record"),
        Undecodable("schema id 1: expected the end of the record, found 1 more bytes"),
    ]


def test_of_a_name_that_is_repeated_in_a_map_the_last_value_counts(spark: SparkSession) -> None:
    days = schema(record({"m": {"type": "map", "values": logical("int", "date")}}))
    late, first = b"\x02k\xc2\x82\xe6\x02", b"\x02k\x02"
    bodies = [b"\x04" + each + b"\0" for each in (late + first, first + late)]
    assert decoded_avro(spark, days, bodies) == [
        {"m": {"k": date(1970, 1, 2)}},
        Undecodable('m["k"]: expected DATE, found 2932897'),
    ]
