"""What no column is read from is rescued within other values too, in the shape of the record."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.decoding.avro_decoding import (
    AvroTable,
    AvroTogether,
    Judged,
    decoded_avro,
    encoded,
    framed,
    record,
    schema,
)
from tests.decoding.drawn_avro import Drawing, same

pytestmark = pytest.mark.spark
TOGETHER = AvroTogether()

INNER = record({"x": "int", "more": ["null", "long"], "y": "string"}, "a.Inner")
ITEM = record({"n": "int", "far": INNER, "tag": "string"}, "a.Item")
DEEP = record(
    {
        "id": "int",
        "near": record({"a": "string", "b": "double"}, "a.Near"),
        "items": {"type": "array", "items": ITEM},
        "named": {"type": "map", "values": ["null", record({"v": "int", "w": "bytes"}, "a.Value")]},
        "grid": {
            "type": "array",
            "items": {
                "type": "array",
                "items": ["null", record({"p": "int", "q": "int"}, "a.Cell")],
            },
        },
        "either": [
            "null",
            "string",
            record({"l": "int", "m": "int"}, "a.Left"),
            record({"r": "int", "s": "string"}, "a.Right"),
        ],
    },
    "a.Deep",
)


def pruned(found: Any, drawn: random.Random) -> Any:
    """A reader's schema: as it is written, but without some of the fields, at any depth."""
    match found:
        case list():
            return [pruned(each, drawn) for each in found]
        case {"type": "record", "fields": fields}:
            kept = [each for each in fields if drawn.random() < 0.6] or fields[:1]
            return {**found, "fields": [{**x, "type": pruned(x["type"], drawn)} for x in kept]}
        case {"items": member}:
            return {**found, "items": pruned(member, drawn)}
        case {"values": member}:
            return {**found, "values": pruned(member, drawn)}
    return found


def left(told: Any, writer: Any, reader: Any) -> Any:
    """What the writer's fields hold and the reader's do not; null for nothing."""
    if told is None:
        return None
    match writer:
        case list():
            pairs = [each for each in zip(writer, reader, strict=True) if each[0] != "null"]
            if len(pairs) == 1:
                return left(told, *pairs[0])
            members = {f"member{n}": left(told[f"member{n}"], *x) for n, x in enumerate(pairs)}
            return {name: each for name, each in members.items() if each is not None} or None
        case {"type": "record", "fields": fields}:
            types = {each["name"]: each["type"] for each in reader["fields"]}
            parts: dict[str, Any] = {}
            for each in fields:
                name = each["name"]
                if name not in types:
                    parts[name] = told[name]
                elif (part := left(told[name], each["type"], types[name])) is not None:
                    parts[name] = part
            return parts or None
        case {"items": member}:
            parts_each = [left(each, member, reader["items"]) for each in told]
            while parts_each and parts_each[-1] is None:
                parts_each.pop()
            return parts_each or None
        case {"values": member}:
            of_names = {name: left(x, member, reader["values"]) for name, x in told.items()}
            return {name: each for name, each in of_names.items() if each is not None} or None
    return None


@pytest.mark.parametrize("seed", range(3))
def test_fields_are_rescued_at_every_depth(spark: SparkSession, seed: int) -> None:
    drawn = random.Random(seed)
    drawing, reader = Drawing(DEEP, drawn), pruned(DEEP, drawn)
    data = [drawing.datum(DEEP) for _ in range(200)]
    values = [framed(1, encoded(DEEP, each.written)) for each in data]
    found = decoded_avro(spark, schema(reader, "9"), values, {"1": schema(DEEP)}, rescue=True)
    for each, ours in zip(data, found, strict=True):
        assert isinstance(ours, dict), ours
        expected, rescued = left(each.told, DEEP, reader), ours["_rescued"]
        told = rescued and json.loads(rescued, parse_float=Decimal)
        assert (told is None) == (expected is None), (told, expected)
        assert same(told, expected), (told, expected)


@TOGETHER.clause
def test_what_is_rescued_within_others_has_the_shape_of_the_record() -> Judged:
    def of(part: dict[str, Any]) -> dict[str, Any]:
        return record(
            {
                "id": "int",
                "one": record(part, "a.One"),
                "all": {"type": "array", "items": ["null", record(part, "a.Each")]},
                "by": {"type": "map", "values": record(part, "a.By")},
            },
            "a.Node",
        )

    writer, reader = of({"x": "int", "more": "string"}), of({"x": "int"})
    whole = {"x": 1, "more": "m"}
    data = [{"id": 1, "one": whole, "all": [None, whole, None], "by": {"k": whole}}]
    data.append({"id": 2, "one": whole, "all": [None], "by": {}})
    values = [framed(1, encoded(writer, each)) for each in data]
    found = yield AvroTable(schema(reader, "9"), values, {"1": schema(writer)}, rescue=True)
    assert [each["_rescued"] for each in found if isinstance(each, dict)] == [
        '{"one":{"more":"m"},"all":[null,{"more":"m"}],"by":{"k":{"more":"m"}}}',
        '{"one":{"more":"m"}}',
    ]


@TOGETHER.clause
def test_a_record_of_which_nothing_is_left_has_no_rescued_text() -> Judged:
    inner = record({"x": "int", "more": "string"}, "a.Each")
    fields = {"id": "int", "all": {"type": "array", "items": ["null", inner]}}
    less = {**fields, "all": {"type": "array", "items": ["null", record({"x": "int"}, "a.Each")]}}
    writer, reader = record(fields, "a.Node"), record(less, "a.Node")
    body = framed(1, encoded(writer, {"id": 1, "all": [None, None]}))
    (found,) = yield AvroTable(schema(reader, "9"), [body], {"1": schema(writer)}, rescue=True)
    assert found == {"id": 1, "all": [None, None], "_rescued": None}


@TOGETHER.clause
def test_fields_within_a_value_that_is_no_record_are_rescued() -> Judged:
    writer = {"type": "array", "items": record({"x": "int", "more": "int"}, "a.Each")}
    reader = {"type": "array", "items": record({"x": "int"}, "a.Each")}
    body = framed(1, encoded(writer, [{"x": 1, "more": 2}]))
    (found,) = yield AvroTable(schema(reader, "9"), [body], {"1": schema(writer)}, rescue=True)
    assert found == {"value": [{"x": 1}], "_rescued": '{"value":[{"more":2}]}'}
