"""Rows that Connect's converter wrote in Avro and in Protobuf, on Spark."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import DECODED, decoder_of
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.decoding.avro_decoding import RECORDS, encoded, framed, record, schema
from tests.decoding.spec_rows import BASE, outcome_of, rows
from tests.decoding.test_change_events_avro import COLUMNS, FIELDS, ORDER, connects, optional
from tests.worlds.protobuf_schemas import descriptor_set, message_class

pytestmark = pytest.mark.spark
CONNECT = "org.apache.kafka.connect.data"
ROW = record(FIELDS, "shop.orders.Value")
FORM = {"type": "avro", "schema_file": "row.avsc", "envelope": "connect"}
LOGICAL: dict[str, Any] = {
    "old_day": connects("int", f"{CONNECT}.Date"),
    "day": {**connects("int", f"{CONNECT}.Date"), "logicalType": "date"},
    "clock": connects("int", f"{CONNECT}.Time"),
    "at": {**connects("long", f"{CONNECT}.Timestamp"), "logicalType": "timestamp-millis"},
    "old_amount": {
        **connects("bytes", f"{CONNECT}.Decimal"),
        "connect.parameters": {"scale": "2", "connect.decimal.precision": "10"},
    },
}
AT = datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=UTC)


def test_rows_have_the_columns_that_connects_names_mean(spark: SparkSession) -> None:
    values = [encoded(ROW, ORDER), encoded(ROW, {**ORDER, "born": 2**31 - 1}), None]
    files = {"row__avsc": json.dumps(ROW).encode()}
    first, told, none = rows(spark, {"format": FORM}, values, **files)
    assert first == COLUMNS
    assert told == "born: expected DATE, found 2147483647"
    assert none is None
    plain = {"format": {**FORM, "envelope": None}}
    (as_numbers,) = rows(spark, plain, values[:1], **files)
    assert (as_numbers["born"], as_numbers["at_us"]) == (ORDER["born"], ORDER["at_us"])


def test_connects_own_names_mean_the_same_with_and_without_a_logical_type(
    spark: SparkSession,
) -> None:
    text = record(LOGICAL, "Row")
    days = 19_675
    value = {
        "old_day": days,
        "day": date(2023, 11, 14),
        "clock": 3_723_004,
        "at": AT,
        "old_amount": b"\x03\x0d\x40",
    }
    (found,) = rows(
        spark,
        {"format": FORM},
        [encoded(text, value)],
        row__avsc=json.dumps(text).encode(),
    )
    assert found == {
        "old_day": date(2023, 11, 14),
        "day": date(2023, 11, 14),
        "clock": "01:02:03.004000",
        "at": AT,
        "old_amount": Decimal("2000.00"),
    }


def test_keys_and_older_writers_of_a_registry_are_read_as_their_names_mean(
    spark: SparkSession,
) -> None:
    old = record({"id": "long", "at": FIELDS["at_us"]}, "Key")
    new = record({"id": "long", "at": FIELDS["at_us"], "born": FIELDS["born"]}, "Key", born=None)
    form = {"type": "avro", "registry": "r", "envelope": "connect"}
    spec = PipelineSpec.model_validate({**BASE, "format": {"type": "raw"}, "key_format": form})
    reader, writer = schema(new, "2"), schema(old, "1")
    formats = spec.with_readers({"key": reader}).formats
    row = {"id": 1, "at": 1_700_000_000_123_456}
    keys = [framed(1, encoded(old, row)), framed(2, encoded(new, {**row, "born": 19_675}))]
    records = [(n, None, bytearray(each), None) for n, each in enumerate(keys)]
    frame = spark.createDataFrame(records, RECORDS)
    read = decoder_of(formats, "key", {"1": writer, "2": reader})(frame)
    found = [outcome_of(each[DECODED["key"]]) for each in read.toArrow().to_pylist()]
    moment = AT.replace(microsecond=123456)
    assert found == [
        {"id": 1, "at": moment, "born": None},
        {"id": 1, "at": moment, "born": date(2023, 11, 14)},
    ]


def test_columns_are_taken_from_a_row_whose_other_fields_mean_what_they_are_named(
    spark: SparkSession,
) -> None:
    text = record({"id": "long", "at": optional("long"), "born": FIELDS["born"]}, "Row")
    spec = {"format": FORM, "columns": {"moment": {"from": "at", "unit": "ms"}}}
    value = encoded(text, {"id": 1, "at": 1_700_000_000_123, "born": 19_675})
    found = rows(spark, spec, [value], row__avsc=json.dumps(text).encode())
    assert found == [{"id": 1, "born": date(2023, 11, 14), "moment": AT}]


PROTO = """syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto";
message Row { int64 id = 1; google.protobuf.Timestamp at = 2; }"""


def test_protobufs_types_say_it_themselves(spark: SparkSession) -> None:
    made = message_class(PROTO, "shop.Row")
    value = made(id=1)
    value.at.FromMilliseconds(1_700_000_000_123)
    form = {"type": "protobuf", "schema_file": "e.desc", "record": "shop.Row"}
    files = {"e__desc": descriptor_set({"main.proto": PROTO})}
    spec = {"format": {**form, "envelope": "connect"}}
    assert rows(spark, spec, [value.SerializeToString()], **files) == [{"id": 1, "at": AT}]
