"""Columns that a spec takes from fields of records, and those that a record must have: on Spark."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import DECODED, decoder_of
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.decoding.avro_decoding import encoded
from tests.decoding.reference_variant import Variant
from tests.decoding.spec_rows import BASE, rows
from tests.worlds.protobuf_schemas import descriptor_set, message_class

pytestmark = pytest.mark.spark


def test_fields_become_columns_of_other_names(spark: SparkSession) -> None:
    spec = {
        "format": {"type": "json", "schema": "id BIGINT, a STRUCT<x: INT, y: STRING>, b STRING"},
        "columns": {
            "status": {"from": "$['http.status']", "type": "INT"},
            "upper": {"from": "ID", "type": "STRING"},
            "ax": "$.a.x",
            "deep": {"from": "$.p['q r'].s", "type": "ARRAY<INT>"},
        },
    }
    whole = b'{"id":1,"ID":7,"http.status":200,"a":{"x":1,"y":"t"},"p":{"q r":{"s":[1]}},"b":"z"}'
    none = {"id": None, "a": None, "b": None, "status": None, "upper": None, "ax": None}
    assert rows(spark, spec, [whole, None, b'{"a":{"x":2}}', b'{"p":{"q r":{"s":[]}}}']) == [
        {
            "id": 1,
            "a": {"y": "t"},
            "b": "z",
            "status": 200,
            "upper": "7",
            "ax": 1,
            "deep": [1],
        },
        None,
        {**none, "a": {"y": None}, "ax": 2, "deep": None},
        {**none, "deep": []},
    ]


def test_what_does_not_fit_is_told_by_the_fields_own_name(spark: SparkSession) -> None:
    spec = {
        "format": {"type": "json", "schema": "id BIGINT, a STRUCT<x: INT>"},
        "columns": {"status": {"from": "$['http.status'].code", "type": "INT"}},
    }
    values = [b'{"http.status":{"code":"x"}}', b'{"a":{"x":"q"}}', b'{"http.status":1}']
    assert rows(spark, spec, values) == [
        'http.status.code: expected INT, found "x"',
        'a.x: expected INT, found "q"',
        "http.status: expected STRUCT, found 1",
    ]


def test_numbers_are_moments_and_days_of_the_unit_of_their_column(spark: SparkSession) -> None:
    spec = {
        "format": {"type": "json", "schema": "id BIGINT"},
        "columns": {
            each: {"from": f"$.t['{each}']", "unit": each}
            for each in ("s", "ms", "us", "ns", "days")
        },
    }
    values = [
        b'{"t":{"s":1.5,"ms":1700000000123,"us":-1,"ns":-1,"days":-1}}',
        b'{"t":{"s":"2026-01-02T03:04:05Z","days":"2026-01-02"}}',
        b'{"t":{"days":2932897}}',
        b'{"t":{"s":253402300800}}',
    ]
    first, second, *wrong = rows(spark, spec, values)
    assert first == {
        "id": None,
        "s": datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=UTC),
        "ms": datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=UTC),
        "us": datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        "ns": datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        "days": date(1969, 12, 31),
    }
    assert second["s"] == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert second["days"] == date(2026, 1, 2)
    assert wrong == [
        "t.days: expected DATE, found 2932897",
        "t.s: expected TIMESTAMP, found 253402300800",
    ]


def test_base64_and_connects_decimals(spark: SparkSession) -> None:
    spec = {
        "format": {"type": "json", "schema": "id BIGINT"},
        "columns": {
            "amount": {"from": "amount", "encoding": "connect_decimal", "scale": 2},
            "bytes": {"from": "bytes", "encoding": "base64"},
        },
    }
    values = [b'{"amount":"Aw1A","bytes":"QUI="}', b'{"amount":"/w=="}', b'{"amount":"x"}']
    most = b'{"amount":"SztMqFqGxHoJih//////////"}'
    assert rows(spark, spec, [*values, most, b'{"amount":""}']) == [
        {"id": None, "amount": Decimal("2000.00"), "bytes": b"AB"},
        {"id": None, "amount": Decimal("-0.01"), "bytes": None},
        'amount: expected BINARY, found "x"',
        "amount: expected DECIMAL(38,2), found 18 bytes",
        "amount: expected DECIMAL(38,2), found 0 bytes",
    ]


def test_a_record_without_any_declared_field_is_undecodable(spark: SparkSession) -> None:
    form = {"type": "json", "schema": "id BIGINT, name STRING"}
    values = [b'{"ID":1,"Name":"x"}', b"{}", b'{"id":null}', None, b'{"schema":{},"payload":{}}']
    told = "expected one of the declared fields (id, name), found "
    nulls = {"id": None, "name": None}
    assert rows(spark, {"format": form}, values) == [
        f"{told}ID, Name",
        f"{told}an object without fields",
        nulls,
        None,
        f"{told}schema, payload",
    ]
    allowed = rows(spark, {"format": {**form, "allow_unmatched": True}}, values)
    assert allowed == [nulls, nulls, nulls, None, nulls]


def test_the_way_to_a_field_is_no_field(spark: SparkSession) -> None:
    form = {"type": "json", "schema": "id BIGINT"}
    taken = {"at": {"from": "$.p.at", "type": "STRING"}}
    values = [b'{"p":{"x":1}}', b'{"p":null}', b'{"p":{"at":null}}']
    told = "expected one of the declared fields (id, p.at), found p"
    assert rows(spark, {"format": form, "columns": taken}, values) == [
        told,
        told,
        {"id": None, "at": None},
    ]


def test_of_ways_that_are_repeated_the_last_one_counts(spark: SparkSession) -> None:
    form = {"type": "json", "schema": "id BIGINT"}
    taken = {
        "at": {"from": "$.p.q.at", "type": "STRING"},
        "by": {"from": "$.p.by", "type": "STRING"},
    }
    empty = [
        b'{"p":{"by":"a"},"p":{}}',
        b'{"p":{"q":{"at":"a"},"q":{}}}',
        b'{"p":{"by":1},"p":null}',
    ]
    last = [b'{"p":{},"p":{"by":"a"}}', b'{"p":{"q":1,"q":{"at":"a"}}}']
    # What one record has is not the next one's.
    after = [b'{"p":{"q":{"at":"a"}}}', b'{"p":{}}', b"{}"]
    told = "expected one of the declared fields (id, p.q.at, p.by), found "
    none = {"id": None, "at": None, "by": None}
    assert rows(spark, {"format": form, "columns": taken}, [*empty, *last, *after]) == [
        *[f"{told}p"] * 3,
        {**none, "by": "a"},
        {**none, "at": "a"},
        {**none, "at": "a"},
        f"{told}p",
        f"{told}an object without fields",
    ]


def test_a_required_field_is_there_and_not_null(spark: SparkSession) -> None:
    spec = {"format": {"type": "json", "schema": "id BIGINT, name STRING"}, "required": ["id"]}
    values = [b'{"id":1}', b'{"name":"x"}', b'{"id":null,"name":"x"}', None, b'{"id":"x"}']
    told = "id: expected a value, as it is required, found none"
    assert rows(spark, spec, values) == [
        {"id": 1, "name": None},
        told,
        told,
        None,
        'id: expected BIGINT, found "x"',
    ]


def test_a_null_key_has_not_what_is_required_and_a_tombstone_lands(spark: SparkSession) -> None:
    raw = {**BASE, "format": {"type": "raw"}, "required": ["value", "_key_value"]}
    formats = PipelineSpec.model_validate({**raw, "key_format": "text"}).formats
    records = [(0, None, bytearray(b"k")), (1, bytearray(b"v"), None)]
    frame = spark.createDataFrame(records, "place INT, value BINARY, key BINARY")
    for source in ("value", "key"):
        frame = decoder_of(formats, source, {})(frame)
    first, second = frame.select("place", *DECODED.values()).toArrow().to_pylist()
    assert first[DECODED["value"]] is None
    assert first[DECODED["key"]] == {"value": "k", "(error)": None}
    assert second[DECODED["value"]] == {"value": b"v", "(error)": None}
    told = "value: expected a value, as it is required, found none"
    assert second[DECODED["key"]] == {"value": None, "(error)": told}


def test_what_columns_take_is_not_rescued(spark: SparkSession) -> None:
    spec = {
        "format": {"type": "json", "schema": "id BIGINT"},
        "columns": {"n": {"from": "$.ID", "type": "INT"}},
        "rescue": True,
    }
    assert rows(spark, spec, [b'{"id":1,"ID":2,"more":3}']) == [
        {"id": 1, "n": 2, "_rescued": '{"more":3}'}
    ]


INNER = {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "int"}]}
INNER["fields"] += [{"name": "y", "type": "string"}]  # type: ignore[operator]
OUTER = {
    "type": "record",
    "name": "Outer",
    "fields": [
        {"name": "ID", "type": "long"},
        {"name": "id", "type": "string"},
        {"name": "_offset", "type": "int"},
        {"name": "inner", "type": INNER},
        {"name": "days", "type": "int"},
        {"name": "ns", "type": "long"},
        {"name": "s", "type": "long"},
        {"name": "text", "type": "string"},
        {"name": "digits", "type": "bytes"},
    ],
}
TAKEN = {
    "id_text": "id",
    "their_offset": "$._offset",
    "x": "$.inner.x",
    "day": {"from": "days", "unit": "days"},
    "at": {"from": "ns", "unit": "ns"},
    "second": {"from": "s", "unit": "s"},
    "bytes": {"from": "text", "encoding": "base64"},
    "amount": {"from": "digits", "encoding": "connect_decimal", "scale": 2},
}


def outer(**changed: Any) -> dict[str, Any]:
    whole = {"ID": 1, "id": "a", "_offset": 7, "inner": {"x": 2, "y": "b"}, "days": -1}
    return {**whole, "ns": -1, "s": -5, "text": "QUI=", "digits": b"\xff", **changed}


def expected(**changed: Any) -> dict[str, Any]:
    whole = {"ID": 1, "inner": {"y": "b"}, "id_text": "a", "their_offset": 7, "x": 2}
    return {
        **whole,
        "day": date(1969, 12, 31),
        "at": datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        "second": datetime(1969, 12, 31, 23, 59, 55, tzinfo=UTC),
        "bytes": b"AB",
        "amount": Decimal("-0.01"),
        **changed,
    }


WRONG: dict[str, dict[str, Any]] = {
    "day": {"days": 2_932_897},
    "second": {"s": 253_402_300_800},
    "bytes": {"text": "x"},
    "amount": {"digits": b"\x7f" * 17},
}
TOLD = [
    "day: expected DATE, found 2932897",
    "second: expected TIMESTAMP, found 253402300800",
    "bytes: expected BINARY, found x",
    "amount: expected DECIMAL(38,2), found 17 bytes",
]


def test_fields_of_avro_become_columns_of_other_names(spark: SparkSession) -> None:
    spec = {"format": {"type": "avro", "schema_file": "o.avsc"}, "columns": TAKEN}
    far = {"ns": 2**63 - 1}
    values = [encoded(OUTER, outer(**each)) for each in ({}, far, *WRONG.values())]
    first, second, *wrong = rows(spark, spec, values, o__avsc=json.dumps(OUTER).encode())
    assert first == expected()
    assert second["at"] == datetime(2262, 4, 11, 23, 47, 16, 854775, tzinfo=UTC)
    assert wrong == TOLD


def test_one_type_of_an_avro_union_becomes_a_column(spark: SparkSession) -> None:
    types = ["null", "long", "string", "boolean"]
    union = {"type": "record", "name": "U", "fields": [{"name": "u", "type": types}]}
    spec = {"format": {"type": "avro", "schema_file": "u.avsc"}, "columns": {"text": "$.u.member1"}}
    values = [encoded(union, {"u": each}) for each in (7, "a", True, None)]
    assert rows(spark, spec, values, u__avsc=json.dumps(union).encode()) == [
        {"u": {"member0": 7, "member2": None}, "text": None},
        {"u": {"member0": None, "member2": None}, "text": "a"},
        {"u": {"member0": None, "member2": True}, "text": None},
        {"u": None, "text": None},
    ]


NODE = {
    "type": "record",
    "name": "Node",
    "fields": [
        {"name": "value", "type": "double"},
        {"name": "next", "type": ["null", "Node"], "default": None},
        {"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 60}},
    ],
}


def test_what_is_json_text_in_avro_becomes_a_variant(spark: SparkSession) -> None:
    spec = {
        "format": {"type": "avro", "schema_file": "n.avsc"},
        "columns": {"more": {"from": "next", "type": "VARIANT"}},
    }

    def node(value: float, digits: int = 1, **more: Any) -> dict[str, Any]:
        return {"value": value, "next": None, "d": Decimal("1" * digits), **more}

    inner = node(0.1, next=node(1e300, 38))
    values = [node(1), node(1, next=inner), node(1, next=node(2, 39))]
    none, whole, lost = rows(
        spark, spec, [encoded(NODE, each) for each in values], n__avsc=json.dumps(NODE).encode()
    )
    assert none["more"] is None
    deepest = {"value": 1e300, "next": None, "d": Decimal("1" * 38)}
    assert Variant.read(whole["more"].value, whole["more"].metadata) == Variant(
        {"value": Decimal("0.1"), "next": deepest, "d": 1}
    )
    assert lost.startswith('more: expected VARIANT, found {"value":2')


def test_what_is_json_text_in_protobuf_becomes_a_variant(spark: SparkSession) -> None:
    source = 'syntax = "proto3"; package p; message N { uint64 v = 1; N next = 2; }'
    made = message_class(source, "p.N")
    spec = {
        "format": {"type": "protobuf", "schema_file": "n.desc", "record": "p.N"},
        "columns": {"more": {"from": "next", "type": "VARIANT"}},
    }
    value = made(v=1, next=made(v=2**64 - 1, next=made())).SerializeToString()
    (row,) = rows(spark, spec, [value], n__desc=descriptor_set({"main.proto": source}))
    found = Variant.read(row["more"].value, row["more"].metadata)
    assert found == Variant({"v": Decimal(2**64 - 1), "next": {}})


def test_fields_of_protobuf_become_columns_of_other_names(spark: SparkSession) -> None:
    source = (
        'syntax = "proto3"; package p; message Inner { int32 x = 1; string y = 2; }'
        " message Outer { int64 ID = 1; string id = 2; int32 _offset = 3; Inner inner = 4;"
        " int32 days = 5; int64 ns = 6; uint64 s = 7; string text = 8; bytes digits = 9; }"
    )
    made = message_class(source, "p.Outer")
    spec = {
        "format": {"type": "protobuf", "schema_file": "o.desc", "record": "p.Outer"},
        "columns": TAKEN,
    }
    kept = {each: change for each, change in WRONG.items() if each != "second"}
    vast = {"s": 2**64 - 1}
    changes = [{"s": 5}, *kept.values(), vast]
    values = [made(**outer(**({"s": 5} | each))).SerializeToString() for each in changes]
    files = {"o__desc": descriptor_set({"main.proto": source})}
    first, *wrong = rows(spark, spec, values, **files)
    assert first == expected(second=datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC))
    assert wrong == [
        *(each for each in TOLD if not each.startswith("second")),
        f"second: expected TIMESTAMP, found {2**64 - 1}",
    ]
