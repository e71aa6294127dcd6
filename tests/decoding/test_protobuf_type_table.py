"""The type system, as far as Protobuf can express it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession
from sluice.columns.columns import parse_columns
from sluice.schemas.protobuf.columns import protobuf_declared

from tests.decoding.alike import alike
from tests.decoding.decoding_table import NO
from tests.decoding.protobuf_decoding import decoded_protobuf
from tests.decoding.type_table import NULLS, ROWS, Row
from tests.worlds.protobuf_schemas import message_class, of_file

pytestmark = pytest.mark.spark

TYPES = {
    "INT": "int32",
    "BIGINT": "int64",
    "DECIMAL(20,0)": "uint64",
    "FLOAT": "float",
    "DOUBLE": "double",
    "BOOLEAN": "bool",
    "STRING": "string",
    "BINARY": "bytes",
    "TIMESTAMP": "google.protobuf.Timestamp",
}
FIELDS = " ".join(f"optional {kind} f{n} = {n};" for n, kind in enumerate(TYPES.values(), 1))
SOURCE = (
    'syntax = "proto3"; package p; import "google/protobuf/timestamp.proto";'
    f" message M {{ {FIELDS} }}"
)
PLACES = {name: place for place, name in enumerate(TYPES)}
EXPRESSED = [each for each in (*ROWS, *NULLS) if each.type in TYPES and each.value is not NO]
M = message_class(SOURCE, "p.M")


def test_each_type_has_its_field() -> None:
    declared = ", ".join(f"f{n} {name}" for n, name in enumerate(TYPES, 1))
    assert protobuf_declared(of_file(SOURCE), "p.M").columns == parse_columns(declared)


def encoded(row: Row) -> bytes:
    made = M()
    if row.type == "TIMESTAMP" and row.value is not None:
        made.f9.FromDatetime(row.value)
    elif row.value is not None:
        value = int(row.value) if isinstance(row.value, Decimal) else row.value
        setattr(made, f"f{PLACES[row.type] + 1}", value)
    return bytes(made.SerializeToString())


def test_the_same_values_land(spark: SparkSession) -> None:
    found = decoded_protobuf(spark, SOURCE, "p.M", [encoded(row) for row in EXPRESSED])
    for row, ours in zip(EXPRESSED, found, strict=True):
        assert isinstance(ours, dict), row
        value = ours[f"f{PLACES[row.type] + 1}"]
        if isinstance(value, datetime):
            value = value.replace(tzinfo=None)
        assert alike(value, row.value), row
