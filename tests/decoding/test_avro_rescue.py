"""What no column is read from is rescued, whatever its type is."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.decoding.avro_decoding import (
    AvroTable,
    AvroTogether,
    Judged,
    decoded_avro,
    encoded,
    fixed,
    framed,
    logical,
    record,
    schema,
)
from tests.decoding.drawn_avro import Drawing, same
from tests.decoding.reference_json import Undecodable

pytestmark = pytest.mark.spark
TOGETHER = AvroTogether()

READER = schema(record({"id": "int"}, "a.Node"), "9")
OTHER = record({"back": ["null", "a.Node"], "at": logical("long", "timestamp-millis")}, "a.Other")
EVERY = record(
    {
        "nodes": {"type": "array", "items": "a.Node"},
        "id": "int",
        "nothing": "null",
        "only_nothing": ["null"],
        "truth": ["boolean"],
        "long": ["null", "long"],
        "float": "float",
        "double": "double",
        "text": "string",
        "bytes": "bytes",
        "fixed": fixed("a.Fixed", 3),
        "enum": {"type": "enum", "name": "a.Enum", "symbols": ["A", "B"]},
        "day": logical("int", "date"),
        "time": logical("long", "time-micros"),
        "uuid": logical(fixed("a.Uuid", 16), "uuid"),
        "length": logical(fixed("a.Length", 12), "duration"),
        "small": logical("bytes", "decimal", precision=9, scale=2),
        "large": logical("bytes", "decimal", precision=90, scale=40),
        "large_fixed": logical(fixed("a.Large", 40), "decimal", precision=90),
        "empty": record({}, "a.Empty"),
        "empties": {"type": "array", "items": "a.Empty"},
        "number": ["long", "null", "int"],
        "real": ["double", "null", "float"],
        "either": ["null", "string", "a.Node", "bytes", "a.Empty"],
        "left": ["null", "a.Node"],
        "named": {"type": "map", "values": {"type": "array", "items": ["null", "a.Node"]}},
        "other": ["null", OTHER],
    },
    "a.Node",
)


def plain(found: Any) -> Any:
    return json.loads(json.dumps(found).replace('"logicalType"', '"was"'))


@settings(
    max_examples=2,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32))
def test_each_type_is_rescued_as_json_has_it(spark: SparkSession, seed: int) -> None:
    drawing = Drawing(EVERY, random.Random(seed))
    data = [drawing.datum(EVERY) for _ in range(100)]
    values = [framed(1, encoded(plain(EVERY), each.written)) for each in data]
    found = decoded_avro(spark, READER, values, {"1": schema(EVERY)}, rescue=True)
    for each, ours in zip(data, found, strict=True):
        assert isinstance(ours, dict), ours
        told = {name: value for name, value in each.told.items() if name != "id"}
        assert ours["id"] == each.told["id"]
        rescued = json.loads(ours["_rescued"], parse_float=Decimal)
        assert [*rescued] == [*told]
        assert same(rescued, told), (rescued, told)


TREE = record({"value": "string", "left": ["null", "a.Tree"]}, "a.Tree")


@TOGETHER.clause
def test_a_field_that_holds_its_record_is_rescued() -> Judged:
    body = encoded(TREE, {"value": "a", "left": {"value": "b", "left": None}})
    reader = schema(record({"value": "string"}, "a.Tree"), "9")
    (found,) = yield AvroTable(reader, [framed(1, body)], {"1": schema(TREE)}, rescue=True)
    assert found == {"value": "a", "_rescued": '{"left":{"value":"b","left":null}}'}


@TOGETHER.clause
def test_a_record_of_itself_is_passed_over_where_it_is_its_own_first_field() -> Judged:
    writer = record({"children": {"type": "array", "items": "a.Node"}, "id": "int"}, "a.Node")
    body = framed(1, encoded(writer, {"children": [{"children": [], "id": 2}], "id": 1}))
    (found,) = yield AvroTable(READER, [body], {"1": schema(writer)})
    assert found == {"id": 1}


@TOGETHER.clause
def test_a_decimal_of_more_digits_than_a_column_has_is_rescued() -> Judged:
    amount = logical("bytes", "decimal", precision=64, scale=2)
    writer = record({"id": "int", "amount": ["null", amount]}, "a.Node")
    numbers = [12345, -(10**63) - 1, 7**20_000]
    sized = [each.to_bytes(each.bit_length() // 8 + 1, "big", signed=True) for each in numbers]
    values = [framed(1, encoded(plain(writer), {"id": 1, "amount": x})) for x in [*sized, b""]]
    found = yield AvroTable(READER, values, {"1": schema(writer)}, rescue=True)
    told = [each["_rescued"] for each in found if isinstance(each, dict)]
    assert told[:2] == ['{"amount":123.45}', f'{{"amount":-1{"0" * 61}.01}}']
    # No number, or one whose digits take too long, is the bytes that it is.
    assert told[2].startswith('{"amount":"')
    assert told[2].endswith('"}')
    assert told[3:] == ['{"amount":""}']


@TOGETHER.clause
def test_of_a_name_that_is_repeated_the_last_value_is_rescued() -> Judged:
    writer = record({"id": "int", "m": {"type": "map", "values": "int"}}, "a.Node")
    body = b"\x02" + b"\x06" + b"\x02k\x02" + b"\x02l\x04" + b"\x02k\x06" + b"\0"
    (found,) = yield AvroTable(READER, [framed(1, body)], {"1": schema(writer)}, rescue=True)
    assert found == {"id": 1, "_rescued": '{"m":{"k":3,"l":2}}'}


@TOGETHER.clause
def test_fields_are_rescued_of_the_record_of_a_union_that_is_read() -> Judged:
    more = record({"id": "int", "more": "string"}, "a.Node")
    both = ["null", more, record({"x": "int"}, "a.Else")]
    values = [framed(1, b"\x02" + encoded(more, {"id": 1, "more": "a"})), framed(1, b"\x04\x02")]
    found = yield AvroTable(READER, values, {"1": schema(both)}, rescue=True)
    told = "schema id 1: expected record a.Node, found record a.Else"
    assert found == [{"id": 1, "_rescued": '{"more":"a"}'}, Undecodable(told)]


@TOGETHER.clause
def test_text_that_would_fill_the_memory_is_refused() -> Judged:
    wide = record({f"a_field_of_nothing_{n}": "null" for n in range(100)}, "a.Wide")
    writer = record({"id": "int", "wide": {"type": "array", "items": wide}}, "a.Node")
    body = b"\x02" + b"\xc0\x9a\x0c" + b"\0"  # 100,000 records of no bytes
    (found,) = yield AvroTable(READER, [framed(1, body)], {"1": schema(writer)}, rescue=True)
    assert isinstance(found, Undecodable)
    assert found.reason.endswith("expected JSON text of at most 67,108,864 characters, found more")


@TOGETHER.clause
def test_as_many_levels_are_rescued_as_are_read() -> Judged:
    reader = record({"id": "int", "tree": TREE}, "a.Node")
    writer = record({"id": "int", "tree": TREE, "more": "int"}, "a.Node")
    # A STRUCT, and in its column `left` 200 levels of text.
    body = b"\x02" + b"\x02a" + b"\x02\x02b" * 200 + b"\x00" + b"\x06"
    writers = {"1": schema(writer)}
    (found,) = yield AvroTable(schema(reader, "9"), [framed(1, body)], writers, rescue=True)
    assert isinstance(found, dict), found
    assert found["_rescued"] == '{"more":3}'
