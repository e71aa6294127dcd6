"""Columns that a spec takes from fields of records, and those that a record must have: on Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import DECODED, decoder_of
from sluice.spec_file.pipeline_spec import PipelineSpec

pytestmark = pytest.mark.spark
BASE = {"version": 1, "pipeline": "p", "topics": ["t"], "table": "p"}


def rows(spark: SparkSession, spec: Mapping[str, Any], values: Sequence[bytes | None]) -> list[Any]:
    """What became of each value: its columns, or its error."""
    formats = PipelineSpec.model_validate({**BASE, **spec}).formats
    records = [(place, each and bytearray(each)) for place, each in enumerate(values)]
    frame = spark.createDataFrame(records, "place INT, value BINARY")
    name = DECODED["value"]
    read = decoder_of(formats, "value", {})(frame).select("place", name).toArrow().to_pylist()
    found = {each["place"]: each[name] for each in read}
    return [_outcome(found[place]) for place in range(len(values))]


def _outcome(row: dict[str, Any] | None) -> Any:
    if row is None:
        return None
    error = row.pop("(error)")
    assert error is None or set(row.values()) == {None}
    return row if error is None else error


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
        "ns": datetime(1970, 1, 1, tzinfo=UTC),
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
    told = "expected one of the declared fields (id, p), found p"
    assert rows(spark, {"format": form, "columns": taken}, values) == [
        told,
        told,
        {"id": None, "at": None},
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


def test_what_columns_take_is_not_rescued(spark: SparkSession) -> None:
    spec = {
        "format": {"type": "json", "schema": "id BIGINT"},
        "columns": {"n": {"from": "$.ID", "type": "INT"}},
        "rescue": True,
    }
    assert rows(spark, spec, [b'{"id":1,"ID":2,"more":3}']) == [
        {"id": 1, "n": 2, "_rescued": '{"more":3}'}
    ]
