"""Change events of Debezium in Avro, as Connect's converter registers and writes them, on Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import DECODED, decoder_of
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.decoding.avro_decoding import RECORDS, encoded, framed, record, schema
from tests.decoding.spec_rows import BASE, outcome_of

pytestmark = pytest.mark.spark
TIMES = "io.debezium.time"


def connects(carrier: str, name: str) -> dict[str, Any]:
    return {"type": carrier, "connect.version": 1, "connect.name": name}


def optional(kind: Any) -> list[Any]:
    return ["null", kind]


VARIABLE = {
    "type": "record",
    "name": "VariableScaleDecimal",
    "namespace": "io.debezium.data",
    "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
    "connect.name": "io.debezium.data.VariableScaleDecimal",
}
FIELDS: dict[str, Any] = {
    "id": "long",
    "name": optional("string"),
    "amount": optional(
        {
            **connects("bytes", "org.apache.kafka.connect.data.Decimal"),
            "scale": 2,
            "precision": 64,
            "logicalType": "decimal",
        }
    ),
    "free": optional(VARIABLE),
    "born": optional(connects("int", f"{TIMES}.Date")),
    "at_us": optional(connects("long", f"{TIMES}.MicroTimestamp")),
    "at_ns": optional(connects("long", f"{TIMES}.NanoTimestamp")),
    "zoned": optional(connects("string", f"{TIMES}.ZonedTimestamp")),
    "clock": optional(connects("long", f"{TIMES}.NanoTime")),
    "moments": {"type": "array", "items": connects("long", f"{TIMES}.Timestamp")},
}


def envelope(fields: Mapping[str, Any] = FIELDS, name: str = "Envelope") -> dict[str, Any]:
    row = {
        "type": "record",
        "name": "Value",
        "fields": [{"name": key, "type": each} for key, each in fields.items()],
    }
    source = {
        "type": "record",
        "name": "Source",
        "namespace": "io.debezium.connector.mysql",
        "fields": [
            {"name": "connector", "type": "string"},
            {"name": "ts_ms", "type": "long"},
            {"name": "file", "type": optional("string"), "default": None},
        ],
    }
    members: dict[str, Any] = {
        "before": optional(row),
        "after": optional("Value"),
        "source": source,
        "op": "string",
        "ts_ms": optional("long"),
    }
    made = [{"name": key, "type": each} for key, each in members.items()]
    return {"type": "record", "name": name, "namespace": "shop.orders", "fields": made}


ORDER = {
    "id": 1,
    "name": "a",
    "amount": Decimal("2000.00"),
    "free": {"scale": 3, "value": b"\x00\x9c"},
    "born": 19_675,
    "at_us": 1_700_000_000_123_456,
    "at_ns": 1_700_000_000_123_456_789,
    "zoned": "2023-11-14T23:13:20.123456+01:00",
    "clock": 3_723_000_456_789,
    "moments": [1_700_000_000_123],
}
SOURCE = {"connector": "mysql", "ts_ms": 1_700_000_000_123, "file": None}
AT = datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=UTC)
MILLIS = AT.replace(microsecond=123000)
COLUMNS = {
    "id": 1,
    "name": "a",
    "amount": Decimal("2000.00"),
    "free": "0.156",
    "born": date(2023, 11, 14),
    "at_us": AT,
    "at_ns": AT,
    "zoned": AT,
    "clock": "01:02:03.000456",
    "moments": [MILLIS],
}
MARKS = {
    "_source": '{"connector":"mysql","ts_ms":1700000000123,"file":null}',
    "_source_time": MILLIS,
}


def change(op: str, before: Any = None, after: Any = None) -> dict[str, Any]:
    return {"before": before, "after": after, "source": SOURCE, "op": op, "ts_ms": 1}


def read(
    spark: SparkSession,
    reader: RegisteredSchema,
    values: Sequence[bytes | None],
    *writers: RegisteredSchema,
    **keys: Any,
) -> list[Any]:
    """What became of records that name these schemas."""
    form = {"type": "avro", "registry": "r", "envelope": "debezium"}
    spec = PipelineSpec.model_validate({**BASE, "format": form, **keys})
    formats = spec.with_readers({"value": reader}).formats
    known = {each.key: each for each in (reader, *writers)}
    records = [(n, each and bytearray(each), None, None) for n, each in enumerate(values)]
    frame = decoder_of(formats, "value", known)(spark.createDataFrame(records, RECORDS))
    name = DECODED["value"]
    found = {
        each["place"]: each[name] for each in frame.select("place", name).toArrow().to_pylist()
    }
    return [outcome_of(found[place]) for place in range(len(values))]


def test_events_have_the_columns_that_connects_names_mean(spark: SparkSession) -> None:
    text = envelope()
    key_only: dict[str, Any] = {**dict.fromkeys(ORDER), "id": 1, "moments": []}
    values = [
        change("c", None, ORDER),
        change("u", {**ORDER, "born": 2**31 - 1}, {**ORDER, "name": "b"}),
        change("d", key_only),
        change("t"),
        change("c", None, {**ORDER, "born": 2**31 - 1}),
        change("c", None, {**ORDER, "zoned": "soon"}),
        change("c", None, {**ORDER, "free": {"scale": 1, "value": b""}}),
        change("u", ORDER),
        change("x"),
    ]
    bodies = [framed(1, encoded(text, each)) for each in values]
    first, update, delete, truncate, *wrong = read(spark, schema(text), [*bodies, None])
    nulls = dict.fromkeys(COLUMNS)
    assert first == {**COLUMNS, "_op": "c", **MARKS}
    assert update == {**COLUMNS, "name": "b", "_op": "u", **MARKS}
    assert delete == {**nulls, "id": 1, "moments": [], "_op": "d", **MARKS}
    assert truncate == {**nulls, "_op": "t", **MARKS}
    assert wrong == [
        "schema id 1: after.born: expected DATE, found 2147483647",
        "schema id 1: after.zoned: expected TIMESTAMP, found soon",
        "schema id 1: after.free: expected a decimal, found no digits, or far too many",
        "schema id 1: after: expected the row, as op is u, found none",
        "schema id 1: op: expected one of c, u, d, r, t, m, found x",
        None,
    ]


def test_older_and_newer_rows_are_read_as_the_readers_and_the_rest_is_rescued(
    spark: SparkSession,
) -> None:
    both = {"id": "long", "name": optional("string")}
    reader = envelope(both)
    newer = envelope({**both, "more": "int", "at": FIELDS["born"]})
    row = {"id": 1, "name": "a", "more": 2, "at": 19_675}
    values = [
        framed(2, encoded(newer, change("u", {**row, "more": 1}, row))),
        framed(2, encoded(newer, change("d", {**row, "more": 1}))),
        framed(1, encoded(reader, change("c", None, {"id": 1, "name": "a"}))),
        framed(2, encoded(newer, change("t"))),
    ]
    found = read(spark, schema(reader), values, schema(newer, "2"), rescue=True)
    assert [each["_rescued"] for each in found] == [
        '{"more":2,"at":19675}',
        '{"more":1,"at":19675}',
        None,
        None,
    ]
    assert [each["id"] for each in found] == [1, 1, 1, None]


def test_of_the_state_that_counts_what_is_left_is_rescued_at_every_depth(
    spark: SparkSession,
) -> None:
    def place(*names: str) -> dict[str, Any]:
        return record(dict.fromkeys(names, "int"), "Place")

    reader = envelope({"id": "long", "at": place("x"), "ways": {"type": "array", "items": "Place"}})
    newer = envelope(
        {"id": "long", "at": place("x", "y"), "ways": {"type": "array", "items": "Place"}}
    )
    old = {"id": 1, "at": {"x": 1, "y": 7}, "ways": []}
    now = {"id": 1, "at": {"x": 1, "y": 2}, "ways": [{"x": 3, "y": 4}]}
    values = [change("u", old, now), change("d", old, None), change("m")]
    bodies = [framed(2, encoded(newer, each)) for each in values]
    found = read(spark, schema(reader), bodies, schema(newer, "2"), rescue=True)
    assert [each["_rescued"] for each in found] == [
        '{"at":{"y":2},"ways":[{"y":4}]}',
        '{"at":{"y":7}}',
        None,
    ]


def test_records_of_other_names_are_refused_by_their_names(spark: SparkSession) -> None:
    beat = record({"ts_ms": "long"}, "io.debezium.connector.common.Heartbeat")
    bodies = [framed(2, encoded(beat, {"ts_ms": 1}))]
    (told,) = read(spark, schema(envelope()), bodies, schema(beat, "2"))
    assert told.endswith(
        "expected record shop.orders.Envelope, found record io.debezium.connector.common.Heartbeat"
    )


def test_documents_of_mongodb_are_one_column(spark: SparkSession) -> None:
    text = envelope()
    document = optional(connects("string", "io.debezium.data.Json"))
    text["fields"][:2] = [{"name": each, "type": document} for each in ("before", "after")]
    values = [change("c", None, '{"_id": 1}'), change("d", None, None), change("d", '{"_id": 2}')]
    found = read(spark, schema(text), [framed(1, encoded(text, each)) for each in values])
    assert [each["after"] for each in found] == ['{"_id": 1}', None, '{"_id": 2}']
    assert found[0] == {"after": '{"_id": 1}', "_op": "c", **MARKS}


def test_columns_are_taken_from_the_row(spark: SparkSession) -> None:
    text = envelope({"id": "long", "_op": "string", "at": "long"})
    taken = {"their_op": "_op", "at": {"from": "at", "unit": "s"}}
    value = framed(1, encoded(text, change("c", None, {"id": 1, "_op": "x", "at": 5})))
    (found,) = read(spark, schema(text), [value], columns=taken)
    assert (found["_op"], found["their_op"]) == ("c", "x")
    assert found["at"] == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
    assert json.loads(found["_source"])["connector"] == "mysql"
