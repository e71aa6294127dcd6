"""Change events of Debezium: the row that each is about, and what stands beside it, on Spark."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import DECODED, decoder_of
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.decoding.avro_decoding import RECORDS, framed
from tests.decoding.spec_rows import BASE, rows
from tests.worlds.debezium_events import EVENTS, event, registered_json

pytestmark = pytest.mark.spark
ROW = (
    "id BIGINT, name STRING, amount DECIMAL(10,2), free DECIMAL(20,3), born DATE, at_ms TIMESTAMP,"
    " at_us TIMESTAMP, at_ns TIMESTAMP, zoned TIMESTAMP, connect_day DATE, connect_at TIMESTAMP,"
    " clock STRING, doc STRING, raw BINARY"
)
WRAPPED = {"format": {"type": "json", "envelope": "debezium", "schema": ROW}}
UNITS: dict[str, Any] = {
    "amount": {"from": "amount", "encoding": "connect_decimal", "scale": 2},
    **{f"at_{each}": {"from": f"at_{each}", "unit": each} for each in ("ms", "us", "ns")},
    "connect_at": {"from": "connect_at", "unit": "ms"},
}
PLAIN_ROW = ROW.replace("amount DECIMAL(10,2), ", "")
PLAIN = {"format": {**WRAPPED["format"], "schema": PLAIN_ROW}, "columns": UNITS}
MICROS = datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=UTC)
MILLIS = MICROS.replace(microsecond=123000)
ORDER = {
    "id": 1,
    "name": "a",
    "amount": Decimal("2000.00"),
    "free": Decimal("1.560"),
    "born": date(2023, 11, 14),
    "at_ms": MILLIS,
    "at_us": MICROS,
    "at_ns": MICROS,
    "zoned": MICROS,
    "connect_day": date(2023, 11, 14),
    "connect_at": MILLIS,
    "clock": "01:02:03.000456",
    "doc": '{"a": 1}',
    "raw": b"AB",
}
NULLS = dict.fromkeys(ORDER)
FORM = {"type": "json", "envelope": "debezium", "schema": "id BIGINT, name STRING"}


def as_event(**members: Any) -> bytes:
    return json.dumps(members).encode()


def marked(row: dict[str, Any], op: str, lsn: int) -> dict[str, Any]:
    source = json.loads(EVENTS["c"]["plain"])["source"]
    source |= {"lsn": lsn, "sequence": f'[null,"{lsn}"]'}
    text = json.dumps(source, separators=(",", ":"))
    return {**row, "_op": op, "_source": text, "_source_time": MICROS}


def judged(found: list[Any], clock: Any) -> None:
    order = ORDER | {"clock": clock}
    nulls: Any = NULLS
    assert [each and dict(sorted(each.items())) for each in found] == [
        each and dict(sorted(each.items()))
        for each in (
            marked(order, "c", 1),
            marked(order, "r", 0),
            marked({**order, "name": "b"}, "u", 2),
            marked({**nulls, "id": 1}, "d", 3),
            marked(nulls, "t", 4),
            marked(nulls, "m", 5),
            None,
        )
    ]


OPS = ("c", "r", "u", "d", "t", "m", "tombstone")


def test_events_in_connects_wrapper_have_the_columns_that_its_schema_names(
    spark: SparkSession,
) -> None:
    judged(rows(spark, WRAPPED, [event(each, wrapped=True) for each in OPS]), "01:02:03.000456")


def test_plain_events_have_the_columns_that_the_spec_tells(spark: SparkSession) -> None:
    judged(rows(spark, PLAIN, [event(each) for each in OPS]), "3723000456")


EXPECTED = "expected a change event of Debezium, found"
STRANGERS = {
    "heartbeat": f"{EXPECTED} a heartbeat",
    "begin": f"{EXPECTED} a transaction's begin or end",
    "end": f"{EXPECTED} a transaction's begin or end",
    "schema change": f"{EXPECTED} a change of a schema",
    "unwrapped rewrite u": f"{EXPECTED} a row that ExtractNewRecordState took out of its event"
    " (id, name, amount, free, born, …)",
}


@pytest.mark.parametrize("wrapped", [False, True])
def test_what_is_no_event_is_named(spark: SparkSession, wrapped: bool) -> None:
    values = [event(each, wrapped) for each in STRANGERS]
    others = [b"{}", b'{"id":1}', b'{"schema":null,"payload":null}', b"[]", b'{"schema":{}']
    told = rows(spark, WRAPPED, [*values, *others])
    assert told == [
        *STRANGERS.values(),
        f"{EXPECTED} an object without fields",
        f"{EXPECTED} an object of other fields (id)",
        f"{EXPECTED} Connect's schema and payload without an object in payload",
        "not one JSON object: found a JSON array",
        "not one JSON object: expected , or }, found the end at byte 12",
    ]


def test_what_the_op_is_not_about_is_not_judged(spark: SparkSession) -> None:
    values = [
        as_event(before={"id": "x"}, after={"id": 1}, op="u"),
        as_event(op="d", after={"id": "x"}, before={"id": 2, "more": 1}),
        as_event(op="t", before={"id": "x"}),
    ]
    none = {"_source": None, "_source_time": None, "name": None}
    assert rows(spark, {"format": FORM}, values) == [
        {"id": 1, "_op": "u", **none},
        {"id": 2, "_op": "d", **none},
        {"id": None, "_op": "t", **none},
    ]


def test_what_an_event_lacks_or_has_wrong_is_told(spark: SparkSession) -> None:
    values = [
        as_event(op="c", after={"id": "x"}),
        as_event(op="c", after={"ID": 1}),
        as_event(op="c", after=None),
        as_event(op="x", after={"id": 1}),
        as_event(op="c", after='{"_id": 1}'),
        as_event(op="d", before={"ID": 1}),
        as_event(op="c", after={"id": 1}, source={"ts_ms": 10**17}),
        as_event(op="c", after={"id": 1}) + b"x",
        as_event(op=None, after={"id": 1}),
    ]
    fields = "expected one of the declared fields (id, name), found ID"
    assert rows(spark, {"format": FORM}, values) == [
        'after.id: expected BIGINT, found "x"',
        f"after: {fields}",
        "after: expected the row, as op is c, found none",
        "op: expected one of c, u, d, r, t, m, found x",
        "after: expected the fields of a row, found text, as MongoDB's connector writes it:"
        " declare the one column `after STRING`",
        f"before: {fields}",
        "_source_time: expected TIMESTAMP, found 100000000000000000",
        "not one JSON object: expected the end, found a word at byte 31",
        f"{EXPECTED} an object of other fields (op, after)",
    ]
    allowed = rows(spark, {"format": {**FORM, "allow_unmatched": True}}, values[1:3])
    assert [each["_op"] for each in allowed] == ["c", "c"]


def test_of_a_state_that_is_repeated_the_last_counts_and_fields_are_named_with_their_ways(
    spark: SparkSession,
) -> None:
    values = [
        b'{"op":"c","after":{"id":1,"more":1},"after":{"ID":2}}',
        b'{"op":"c","after":{"ID":2},"after":{"in":{"id":1}}}',
        b'{"op":"c","after":{"in":{"id":1},"in":{"ID":1}}}',
    ]
    form = {**FORM, "schema": "name STRING"}
    taken = {"id": {"from": "$.in.id", "type": "BIGINT"}}
    first, second, third = rows(spark, {"format": form, "columns": taken}, values)
    fields = "after: expected one of the declared fields (name, in.id), found"
    assert (first, third) == (f"{fields} ID", f"{fields} in")
    assert second["id"] == 1


def test_what_the_row_has_beyond_the_columns_is_rescued(spark: SparkSession) -> None:
    values = [
        as_event(op="u", before={"id": 1, "old": 1}, after={"id": 1, "more": [2]}, ts_ms=1),
        as_event(op="d", before={"id": 1, "old": 1}, after=None, transaction={"id": "x"}),
        as_event(op="c", after={"ID": 3}),
        as_event(op="m", message={"content": "x"}),
    ]
    found = rows(spark, {"format": FORM, "rescue": True}, values)
    assert [each["_rescued"] for each in found] == ['{"more":[2]}', '{"old":1}', '{"ID":3}', None]


def test_required_holds_for_rows_that_are_there(spark: SparkSession) -> None:
    values = [
        as_event(op="c", after={"id": 1}),
        as_event(op="d", before={"id": 1}),
        as_event(op="t"),
        None,
    ]
    told, *others = rows(spark, {"format": FORM, "required": ["name"]}, values)
    assert told == "name: expected a value, as it is required, found none"
    assert [each and each["_op"] for each in others] == ["d", "t", None]


def test_an_event_without_its_row_has_nothing_of_the_one_before(spark: SparkSession) -> None:
    form = {"type": "json", "envelope": "debezium", "schema": "id BIGINT", "allow_unmatched": True}
    values = [b'{"op":"c","after":{"id":1,"extra":"x"}}', b'{"op":"u"}'] * 4
    found = rows(spark, {"format": form, "rescue": True}, values)
    assert [each["_rescued"] for each in found] == ['{"extra":"x"}', None] * 4


def test_documents_of_mongodb_are_one_column(spark: SparkSession) -> None:
    form = {**FORM, "schema": "after STRING"}
    values = [
        as_event(op="c", after='{"_id": {"$oid": "1"}}', source={"ts_ms": 1}),
        as_event(op="d", before=None, after=None),
        as_event(op="d", before='{"_id": 1}'),
    ]
    found = rows(spark, {"format": form}, values)
    assert [each["after"] for each in found] == ['{"_id": {"$oid": "1"}}', None, '{"_id": 1}']


def test_a_field_of_sluices_own_name_is_taken_by_columns(spark: SparkSession) -> None:
    spec = {"format": FORM, "columns": {"their_op": {"from": "_op", "type": "STRING"}}}
    (found,) = rows(spark, spec, [as_event(op="c", after={"id": 1, "_op": "x"})])
    assert (found["_op"], found["their_op"]) == ("c", "x")


def named(columns: list[dict[str, Any]], row: dict[str, Any]) -> bytes:
    fields = [{"field": "after", "type": "struct", "fields": columns}]
    return as_event(schema={"type": "struct", "fields": fields}, payload={"op": "c", "after": row})


def test_a_named_type_that_a_column_is_not_is_refused(spark: SparkSession) -> None:
    days = [{"field": "at", "type": "int32", "name": "io.debezium.time.Date"}]
    digits = [
        {
            "field": "digits",
            "name": "org.apache.kafka.connect.data.Decimal",
            "parameters": {"scale": "2"},
        }
    ]
    form = {**FORM, "schema": "at TIMESTAMP, digits DECIMAL(4,1)", "timestamp_unit": "ms"}
    values = [
        named(days, {"at": 19675}),
        named([], {"at": 1_700_000_000_123}),
        named(digits, {"digits": "Aw1A"}),
        named(digits, {"digits": "A?=="}),
        named(digits, {"digits": 12.5}),
    ]
    first, second, *others = rows(spark, {"format": form}, values)
    assert first == "after.at: expected TIMESTAMP, found 19675"
    assert second["at"] == MILLIS
    assert others[0] == "after.digits: expected DECIMAL(4,1), found 2000.00"
    assert others[1].startswith('after.digits: expected DECIMAL(4,1), found "A?=="')
    assert others[2]["digits"] == Decimal("12.5")


def test_events_behind_a_registry_have_the_columns_that_its_schema_names(
    spark: SparkSession,
) -> None:
    reader = registered_json()
    form = {"type": "json", "registry": "r", "envelope": "debezium"}
    formats = (
        PipelineSpec.model_validate({**BASE, "format": form})
        .with_readers({"value": reader})
        .formats
    )
    value = bytearray(framed(1, event("u") or b""))
    records = [(0, value, None, None), (1, bytearray(framed(1, b'{"ts_ms":1}')), None, None)]
    read = decoder_of(formats, "value", {"1": reader})(spark.createDataFrame(records, RECORDS))
    found = read.select("place", DECODED["value"]).toArrow().to_pylist()
    first, second = (each[DECODED["value"]] for each in found)
    wanted = {name: ORDER[name] for name in ("id", "amount", "born", "at_us", "zoned")}
    assert first.items() >= {**wanted, "free": "1.56", "_op": "u", "(error)": None}.items()
    assert second["(error)"] == f"{EXPECTED} a heartbeat"
