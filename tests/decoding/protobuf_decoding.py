"""Runs the product's Protobuf decoding over many messages in one Spark job, and the reference."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession
from pyspark.sql import types as T
from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.decoded_fields import ERROR
from sluice.lake.decoding.protobuf_records import protobuf_struct
from sluice.schemas.protobuf.columns import protobuf_declared
from sluice.spec_file.formats import ProtobufFormat

from tests.decoding.reference_protobuf import message_reader
from tests.worlds.protobuf_schemas import ORDER, descriptor_set, message_class, of_file

Read = dict[str, Any] | str
"""A record's columns, or its error."""


PROTO2 = """
syntax = "proto2"; package old;
message M {
  required int32 r = 1; optional string s = 2; optional Kind k = 3 [default = B];
  repeated Kind kinds = 4; map<string, Kind> by = 5; optional M2 m = 6; repeated string ss = 7;
  map<string, string> texts = 8; optional group G = 9 { optional int32 i = 1; }
}
message M2 { required int32 r = 1; optional Kind k = 2; }
enum Kind { Z = 0; A = 1; B = 2; }
"""
Old = message_class(PROTO2, "old.M")
some = settings(
    max_examples=3, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def decoded_protobuf(
    spark: SparkSession, source: str, record: str, values: Sequence[bytes]
) -> list[Read]:
    """What the product makes of bare messages."""
    keys = {"type": "protobuf", "schema_file": "main.desc", "record": record}
    files = {"main.desc": descriptor_set({"main.proto": source})}
    form = ProtobufFormat.model_validate(keys, context={"files": files})
    rows = [(place, bytearray(value)) for place, value in enumerate(values)]
    records = spark.createDataFrame(rows, "place INT, value BINARY")
    decoded = records.withColumn("d", protobuf_struct(form, "value", {}))
    found = {row["place"]: row["d"] for row in decoded.select("place", "d").toArrow().to_pylist()}
    return [_read(found[place]) for place in range(len(values))]


def _read(row: dict[str, Any]) -> Read:
    error = row.pop(ERROR)
    if error is None:
        return row
    assert set(row.values()) == {None}
    return str(error)


def referred(source: str, record: str, values: Sequence[bytes]) -> list[Read]:
    """What the reference makes of them."""
    read = message_reader(message_class(source, record, bare=True).DESCRIPTOR)
    columns = struct_type(protobuf_declared(of_file(source), record).columns)
    found = [read(value) for value in values]
    return [each if isinstance(each, str) else _plain(each, columns) for each in found]


def _plain(value: Any, declared: T.DataType) -> Any:
    """As Arrow has it."""
    if value is None:
        return None
    match declared:
        case T.StructType():
            pairs = zip(declared, value, strict=True)
            return {each.name: _plain(found, each.dataType) for each, found in pairs}
        case T.ArrayType():
            return [_plain(each, declared.elementType) for each in value]
        case T.MapType():
            return [(name, _plain(each, declared.valueType)) for name, each in value]
        case T.TimestampType():
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)
        case T.DecimalType():
            return Decimal(value)
        case _:
            return value


def read(spark: SparkSession, *values: bytes) -> list[Read]:
    """The product's rows and errors."""
    return decoded_protobuf(spark, ORDER, "shop.Order", values)


def read_old(spark: SparkSession, *values: bytes) -> list[Read]:
    return decoded_protobuf(spark, PROTO2, "old.M", values)
