"""Change events of Debezium in Protobuf, whose row is the message in their field `after`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.decoding.spec_rows import rows
from tests.worlds.protobuf_schemas import descriptor_set, message_class

pytestmark = pytest.mark.spark
SOURCE = """syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto";
message Envelope {
  message Value { int64 id = 1; optional string name = 2; google.protobuf.Timestamp at = 3; }
  message Source { string connector = 1; int64 ts_ms = 2; }
  Value before = 1; Value after = 2; Source source = 3; string op = 4; int64 ts_ms = 5;
}"""
FORM = {"type": "protobuf", "schema_file": "e.desc", "record": "shop.Envelope"}


def test_the_row_is_the_message_in_after(spark: SparkSession) -> None:
    made = message_class(SOURCE, "shop.Envelope")

    def change(op: str, **states: Any) -> bytes:
        source = {"connector": "mysql", "ts_ms": 5}
        return bytes(made(op=op, source=source, **states).SerializeToString())

    values = [
        change("u", before={"id": 1, "name": "a"}, after={"id": 1, "name": "b"}),
        change("d", before={"id": 1}),
        change("t"),
        change("c", before={"id": 1}),
        change("x"),
        None,
    ]
    spec = {"format": {**FORM, "envelope": "debezium"}}
    found = rows(spark, spec, values, e__desc=descriptor_set({"main.proto": SOURCE}))
    marks = {
        "_source": '{"connector":"mysql","ts_ms":5}',
        "_source_time": datetime(1970, 1, 1, 0, 0, 0, 5000, tzinfo=UTC),
    }
    assert found == [
        {"id": 1, "name": "b", "at": None, "_op": "u", **marks},
        {"id": 1, "name": None, "at": None, "_op": "d", **marks},
        {"id": None, "name": None, "at": None, "_op": "t", **marks},
        "after: expected the row, as op is c, found none",
        "op: expected one of c, u, d, r, t, m, found x",
        None,
    ]
