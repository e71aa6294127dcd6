"""Change events with a compression or a frame around them, on Spark."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.decoding.avro_decoding import encoded, framed
from tests.decoding.spec_rows import BASE
from tests.decoding.test_change_events_avro import change, envelope
from tests.decoding.wraps_decoding import decoded
from tests.worlds.packed import COMPRESSIONS

pytestmark = pytest.mark.spark

NONE = {"_source": None, "_source_time": None}
BEAT = "expected a change event of Debezium, found a heartbeat"


def as_event(op: str, after: Any) -> bytes:
    return json.dumps({"op": op, "after": after}).encode()


def read(spark: SparkSession, values: list[bytes | None], **keys: Any) -> list[Any]:
    files = keys.pop("files", {})
    spec = PipelineSpec.model_validate({**BASE, **keys}, context={"files": files})
    rescue = bool(keys.get("rescue"))
    return decoded(spark, spec.formats.value, values, rescue=rescue)


def test_compressed_events_have_columns_of_deeper_fields(spark: SparkSession) -> None:
    (pack, *_) = COMPRESSIONS["gzip"]
    schema = "a STRUCT<x: INT, y: INT>, b INT"
    form = {"type": "json", "envelope": "debezium", "schema": schema, "compression": "gzip"}
    events = [as_event("c", {"a": {"x": 1, "y": 2, "z": 3}, "b": 4}), b'{"ts_ms": 1}']
    values = [*map(pack, events), events[0], None]
    taken = {"x": "$.a.x"}
    found = read(spark, values, format=form, columns=taken, rescue=True)
    assert found[0] == {
        "a": {"y": 2},
        "b": 4,
        "x": 1,
        "_op": "c",
        **NONE,
        "_rescued": '{"a":{"z":3}}',
    }
    assert found[1] == BEAT
    assert found[2].startswith("not gzip: expected 1f8b08, found 7b226f at byte 0")
    assert found[3] is None


def test_framed_events_are_read_without_a_registry(spark: SparkSession) -> None:
    form = {"type": "json", "envelope": "debezium", "schema": "id INT", "frame": "confluent"}
    values: list[bytes | None] = [framed(7, as_event("c", {"id": 1})), as_event("c", {"id": 1})]
    first, second = read(spark, values, format=form)
    assert first == {"id": 1, "_op": "c", **NONE}
    assert isinstance(second, str)
    text = envelope({"id": "long"})
    form = {"type": "avro", "envelope": "debezium", "schema_file": "e.avsc", "frame": "confluent"}
    value = framed(7, encoded(text, change("c", None, {"id": 1})))
    (row,) = read(spark, [value], format=form, files={"e.avsc": json.dumps(text).encode()})
    assert (row["id"], row["_op"]) == (1, "c")
