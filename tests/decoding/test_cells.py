"""A record that would unfold to more than a JVM's memory is put aside, whatever its format."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.decoding.avro_decoding import decoded_avro, encoded, record, schema
from tests.decoding.decoding import decoded
from tests.decoding.protobuf_decoding import decoded_protobuf
from tests.decoding.reference_json import Undecodable

pytestmark = pytest.mark.spark

WIDTH, MANY = 1000, 17_000
NAMES = [f"f{n}" for n in range(WIDTH)]
REFUSED = "expected at most 16,777,216 fields in the structs of a record, found more"
EMPTY = dict.fromkeys(NAMES)


def test_of_json(spark: SparkSession) -> None:
    ddl = f"w ARRAY<STRUCT<{', '.join(f'{each}: INT' for each in NAMES)}>>"
    values = [b'{"w":[' + b",".join([b"{}"] * count) + b"]}" for count in (MANY, 2)]
    assert decoded(spark, ddl, values) == [Undecodable(REFUSED), {"w": [EMPTY, EMPTY]}]


def test_of_avro(spark: SparkSession) -> None:
    member: Any = record({each: ["null", "int"] for each in NAMES}, "a.Member")
    whole: Any = record({"w": {"type": "array", "items": member}})
    values = [encoded(whole, {"w": [EMPTY] * count}) for count in (MANY, 2)]
    found = decoded_avro(spark, schema(whole), values)
    assert found == [Undecodable(f"w[{2**24 // WIDTH}]: {REFUSED}"), {"w": [EMPTY, EMPTY]}]


def test_of_protobuf(spark: SparkSession) -> None:
    fields = " ".join(f"optional int32 {each} = {n};" for n, each in enumerate(NAMES, 1))
    source = (
        f'syntax = "proto3"; package p; message E {{ {fields} }} message M {{ repeated E w = 1; }}'
    )
    found = decoded_protobuf(spark, source, "p.M", [b"\x0a\x00" * count for count in (MANY, 2)])
    assert found == [f"w[{2**24 // WIDTH}]: {REFUSED}", {"w": [EMPTY, EMPTY]}]
