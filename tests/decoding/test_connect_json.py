"""Rows that Connect's JSON converter wrote, with its schema around them and without, on Spark."""

from __future__ import annotations

import gzip
import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import DECODED, decoder_of
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.decoding.avro_decoding import RECORDS, framed
from tests.decoding.spec_rows import BASE, key_rows, rows
from tests.decoding.test_change_events import MICROS, MILLIS, NULLS, ORDER, ROW, UNITS
from tests.decoding.wraps_decoding import decoded
from tests.worlds.debezium_events import EVENTS, event, registered_json

pytestmark = pytest.mark.spark
FORM = {"type": "json", "envelope": "connect", "schema": ROW}
TRAILING = "not one JSON object: expected the end, found a word at byte"
CONNECT = "org.apache.kafka.connect.data"


def wrapped(payload: Any, *fields: dict[str, Any], **schema: Any) -> bytes:
    found = schema or {"type": "struct", "fields": fields}
    return json.dumps({"schema": found, "payload": payload}).encode()


def test_connects_schema_says_what_the_values_of_a_row_mean(spark: SparkSession) -> None:
    updated = {**ORDER, "name": "b", "clock": "01:02:03.000456"}
    values = [
        event("unwrapped drop u", wrapped=True),
        event("unwrapped rewrite u", wrapped=True),
        event("unwrapped rewrite d", wrapped=True),
        event("unwrapped tombstone d", wrapped=True),
        event("unwrapped tombstone d"),
        None,
    ]
    marks = "__deleted STRING, __op STRING, __source_ts_ms BIGINT"
    form = {**FORM, "schema": f"{ROW}, {marks}"}
    at = 1_700_000_000_123
    assert rows(spark, {"format": form}, values) == [
        updated | {"__deleted": None, "__op": "u", "__source_ts_ms": at},
        updated | {"__deleted": "false", "__op": "u", "__source_ts_ms": at},
        {**NULLS, "id": 1} | {"__deleted": "true", "__op": "d", "__source_ts_ms": at},
        # What Connect writes of a null is no value.
        None,
        None,
        None,
    ]


def test_without_its_schema_the_spec_says_what_they_mean(spark: SparkSession) -> None:
    form = {**FORM, "schema": ROW.replace("amount DECIMAL(10,2), ", "")}
    (found,) = rows(spark, {"format": form, "columns": UNITS}, [event("unwrapped drop u")])
    assert found == {**ORDER, "name": "b", "clock": "3723000456"}


def test_a_schema_that_is_null_says_nothing_and_further_members_are_no_wrapper(
    spark: SparkSession,
) -> None:
    form = {**FORM, "schema": "id INT, schema STRING"}
    values = [
        b' {"payload": {"id": 1}, "schema": null} ',
        b'{"schema": {}, "payload": {"id": 2}, "id": 3}',
        b'{"schema": "s", "payload": {"id": 4}}',
        b'{"schema": {"fields": 5, "name": "n"}, "payload": {"ID": 4}}',
        b'{"schema": {}, "payload": 5}',
        b'{"schema": {}, "payload": {"id": 5}} x',
        b"null x",
        b"",
        b'{"schema": {}, "payload": {"id": "x"}}',
    ]
    assert rows(spark, {"format": form}, values) == [
        {"id": 1, "schema": None},
        {"id": 3, "schema": "{}"},
        {"id": None, "schema": "s"},
        "expected one of the declared fields (id, schema), found ID",
        "not one JSON object: found a JSON number. The one column `value` would take it",
        f"{TRAILING} 37",
        f"{TRAILING} 5",
        "not one JSON object: found no bytes",
        'id: expected INT, found "x"',
    ]


def test_what_no_column_holds_is_rescued_and_required_columns_must_be_there(
    spark: SparkSession,
) -> None:
    form = {**FORM, "schema": "id INT, at DATE"}
    day = {"field": "at", "type": "int32", "name": "io.debezium.time.Date"}
    values = [wrapped({"id": 1, "at": 19_675, "x": [1]}, day), wrapped({"x": 1}), b"null"]
    spec = {"format": form, "rescue": True, "required": ["id"]}
    assert rows(spark, spec, values) == [
        {"id": 1, "at": date(2023, 11, 14), "_rescued": '{"x":[1]}'},
        "id: expected a value, as it is required, found none",
        None,
    ]


@pytest.mark.parametrize(
    ("column", "values", "found"),
    [
        (
            "BIGINT",
            [wrapped(7, type="int64"), b"8", b'{"value": 9}', b'"x"'],
            [7, 8, 9, 'value: expected BIGINT, found "x"'],
        ),
        (
            "TIMESTAMP",
            [wrapped(1_700_000_000_123, type="int64", name=f"{CONNECT}.Timestamp")],
            [MILLIS],
        ),
        (
            "DECIMAL(10,2)",
            [wrapped("Aw1A", type="bytes", name=f"{CONNECT}.Decimal", parameters={"scale": "2"})],
            [Decimal("2000.00")],
        ),
        ("STRING", [wrapped("a\u00e9", type="string"), b'"a" x'], ["aé", f"{TRAILING} 4"]),
        ("ARRAY<STRUCT<a: INT>>", [wrapped([{"a": 1}], type="array")], [[{"a": 1}]]),
    ],
)
def test_a_value_that_is_no_object_is_the_one_column(
    spark: SparkSession, column: str, values: list[bytes], found: list[Any]
) -> None:
    form = {**FORM, "schema": f"value {column}"}
    got = rows(spark, {"format": form}, values)
    assert [each["value"] if isinstance(each, dict) else each for each in got] == found


def test_each_record_is_read_by_the_schema_that_it_has(spark: SparkSession) -> None:
    micros = {"field": "at", "type": "int64", "name": "io.debezium.time.MicroTimestamp"}
    millis = {"field": "at", "type": "int64", "name": "io.debezium.time.Timestamp"}
    form = {**FORM, "schema": "at TIMESTAMP"}
    values = [
        wrapped({"at": 1_700_000_000_123_456}, micros),
        wrapped({"at": 1_700_000_000_123}, millis),
        wrapped({"at": 1_700_000_000_123_456}, micros),
    ]
    found = rows(spark, {"format": form}, values)
    assert [each["at"] for each in found] == [MICROS, MILLIS, MICROS]


def test_wrapped_keys_are_read_where_connect_wrote_the_value(spark: SparkSession) -> None:
    key = EVENTS["key"]["wrapped"].encode()
    spec = {
        "format": {"type": "json", "envelope": "debezium", "schema": "id BIGINT"},
        "key_format": {"type": "json", "schema": "id BIGINT"},
    }
    assert key_rows(spark, spec, [key, b'{"id": 2}', None]) == [{"id": 1}, {"id": 2}, None]
    plain = {**spec, "format": {"type": "json", "schema": "id BIGINT"}}
    (told,) = key_rows(spark, plain, [key])
    assert told == "expected one of the declared fields (id), found schema, payload"


def test_rows_behind_a_registry_have_the_columns_that_its_schema_names(
    spark: SparkSession,
) -> None:
    properties = json.loads(registered_json().text)["properties"]["after"]["oneOf"][1]["properties"]
    text = json.dumps({"type": "object", "properties": properties})
    reader = RegisteredSchema("1", "JSON", text)
    form = {"type": "json", "registry": "r", "envelope": "connect"}
    given = PipelineSpec.model_validate({**BASE, "format": form})
    formats = given.with_readers({"value": reader}).formats
    values = [event("unwrapped drop u") or b"", b"null"]
    records = [(n, bytearray(framed(1, each)), None, None) for n, each in enumerate(values)]
    read = decoder_of(formats, "value", {"1": reader})(spark.createDataFrame(records, RECORDS))
    found = read.select("place", DECODED["value"]).toArrow().to_pylist()
    first, second = (each[DECODED["value"]] for each in found)
    names = ("id", "amount", "born", "at_us", "zoned")
    wanted = {**{name: ORDER[name] for name in names}, "free": "1.56", "(error)": None}
    assert first == wanted
    assert second is None


def test_compressed_rows_are_read_and_their_null_is_no_value(spark: SparkSession) -> None:
    form = {**FORM, "schema": "a STRUCT<x: INT, y: INT>, b INT", "compression": "gzip"}
    values = [wrapped({"a": {"x": 1, "y": 2}, "b": 3}), wrapped(None), b"null"]
    packed = [gzip.compress(each, mtime=0) for each in values]
    spec = {"format": form, "columns": {"x": "$.a.x"}}
    context = PipelineSpec.model_validate({**BASE, **spec}).formats
    found = decoded(spark, context.value, [*packed, b"x"])
    assert found[:3] == [{"a": {"y": 2}, "b": 3, "x": 1}, None, None]
    assert found[3].startswith("not gzip")
