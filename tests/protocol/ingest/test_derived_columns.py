"""Derived columns, and fields that are left out: as declared, whatever a record holds."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, date, datetime
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sluice.columns.columns import parse_columns
from sluice.errors import SpecError
from sluice.lake.batch_rows import stored_part
from sluice.operations.backfill.selection import offset_ranges
from sluice.spec_file.table_shape import TableShape

from tests.decoding.reference_json import decode
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

SCHEMA = "id BIGINT, email STRING, price DOUBLE, text STRING"
JSON = {"type": "json", "schema": SCHEMA}
DERIVED = {
    "email": "sha2(lower(email), 256)",
    "_day": "CAST(_timestamp AS DATE)",
    "number": "try_cast(text AS INT)",
    "half": "try_divide(price, id)",
    "_trace": "try_validate_utf8(CAST(_key AS STRING))",
}
VALUES = [
    b'{"id": 1, "email": "A@B", "price": 2.0, "text": "7"}',
    b'{"id": 0, "email": "a@b", "price": 2.0, "text": "none"}',
    b'{"id": 9223372036854775807, "price": -1e308, "text": "99999999999"}',
    b'{"id": "no number", "email": "x@y"}',
    None,
    b'{"id": null}',
]


def expected(value: bytes) -> dict[str, Any] | None:
    """What the table must hold of a record, in words of this test's own."""
    given = decode(value, SCHEMA)
    if not isinstance(given, dict):
        return None
    email, text, price, id = (given[each] for each in ("email", "text", "price", "id"))
    small = text is not None and text.isdigit() and int(text) < 2**31
    return {
        "id": id,
        "price": price,
        "email": None if email is None else hashlib.sha256(email.lower().encode()).hexdigest(),
        "number": int(text) if small else None,
        "half": None if price is None or not id else price / id,
    }


def sent(trips: Installed) -> None:
    at = int(datetime(2013, 1, 1, 5, tzinfo=UTC).timestamp() * 1000)
    for partition, key in enumerate((b"trace", b"\xff")):
        produce(
            trips.bootstrap, trips.topics[0], VALUES, partition=partition, key=key, timestamp=at
        )


@pytest.mark.parametrize(
    "layout", [{}, {"partition_by": ["_day"]}, {"cluster_by": ["_day"]}], ids=str
)
def test_derived_columns_hold_what_the_spec_says_of_every_record(
    topic: Topic, pipeline: Pipelines, layout: dict[str, list[str]]
) -> None:
    keys = {"exclude": ["email", "text"], "derived": DERIVED, "quarantine": {"max_ratio": 0.5}}
    trips = pipeline(topic(2, retention_ms=-1), format=JSON, **keys, **layout)
    sent(trips)
    trips.run()
    facts = trips.judge(decode=expected).facts
    assert (facts.rows, facts.quarantined) == (10, 2)
    assert trips.sluice("verify").returncode == 0
    rows = trips.rows()
    assert {row["_trace"] for row in rows if row["_partition"] == 0} == {"trace"}
    assert {row["_trace"] for row in rows if row["_partition"] == 1} == {None}
    assert {row["_day"] for row in rows} == {date(2013, 1, 1)}
    names = [each.name for each in DeltaTable(trips.data).schema().fields]
    # The file has its keys in the order of the alphabet.
    assert names[:7] == ["id", "price", "_day", "_trace", "email", "half", "number"]
    assert names[7] == "_topic"


def test_offsets_that_are_read_again_get_the_same_columns(
    topic: Topic, pipeline: Pipelines
) -> None:
    keys = {"exclude": ["email", "text"], "derived": DERIVED, "quarantine": {"max_ratio": 0.5}}
    trips = pipeline(topic(2, retention_ms=-1), format=JSON, **keys)
    sent(trips)
    trips.run()
    before = rows_of(trips)
    asked = offset_ranges([f"{trips.topics[0]}[{number}] [0, 6)" for number in (0, 1)])
    trips.ingest(trips.open().backfill(asked, "test", "test").work)
    trips.settle()
    assert rows_of(trips) == before
    assert {row["_batch"] for row in trips.rows()} == {"backfill-1-1"}
    assert trips.judge(decode=expected).facts.rows == 10


def rows_of(trips: Installed) -> list[dict[str, Any]]:
    rows = sorted(trips.rows(), key=lambda row: (row["_partition"], row["_offset"]))
    return [{name: value for name, value in row.items() if name != "_batch"} for row in rows]


@pytest.mark.parametrize("derived", [{}, {"later": "CAST(id AS STRING)"}], ids=["plain", "derived"])
def test_a_field_that_is_left_out_is_judged_all_the_same(
    topic: Topic, pipeline: Pipelines, derived: dict[str, str]
) -> None:
    form = {"type": "json", "schema": "id BIGINT, price DOUBLE, at DATE"}
    keys = {"exclude": ["price", "at"], "derived": derived, "quarantine": {"max_ratio": 0.6}}
    trips = pipeline(topic(), format=form, **keys)
    good = [b'{"id": 1, "price": 1.5}', b'{"id": 2}']
    bad = [b'{"id": 3, "price": "much"}', b'{"id": 3, "at": "2026-02-30"}', b'{"id": 3} x']
    produce(trips.bootstrap, trips.topics[0], good + bad)
    trips.run()
    assert sorted(row["_offset"] for row in trips.quarantined()) == [2, 3, 4]
    assert sorted(row["id"] for row in trips.rows()) == [1, 2]


def test_a_derived_column_may_come_later_and_may_not_change_its_type(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(2, retention_ms=-1), format=JSON, quarantine={"max_ratio": 0.5})
    sent(trips)
    trips.run()
    trips.write_spec(derived={"_length": "length(text)"})
    sent(trips)
    trips.run()
    assert {row["_length"] for row in trips.rows()} == {None, 1, 4, 11}
    trips.write_spec(derived={"_length": "CAST(length(text) AS STRING)"})
    with pytest.raises(SpecError, match=r"derived._length: expected INT as in the rows of"):
        trips.plan()
    trips.write_spec(derived={})
    assert trips.judge().facts.rows == 20


def test_of_format_raw_the_value_may_be_left_out(topic: Topic, pipeline: Pipelines) -> None:
    text = "get_json_object(try_validate_utf8(CAST(value AS STRING)), '$.id')"
    trips = pipeline(
        topic(2, retention_ms=-1),
        exclude=["value"],
        derived={"id": text},
        partition_by=["_partition"],
    )
    sent(trips)
    trips.run()
    assert [row["id"] for row in trips.rows() if row["_partition"] == 0][:4] == [
        *("1", "0", "9223372036854775807", "no number"),
    ]

    def by_hand(value: bytes) -> dict[str, Any]:
        found = json.loads(value).get("id")
        return {"id": None if found is None else str(found)}

    assert trips.judge(decode=by_hand).facts.rows == 12


def test_a_derived_variant_lands_and_a_condition_looks_into_one(
    topic: Topic, pipeline: Pipelines, spark: SparkSession
) -> None:
    any_json = "try_parse_json(decode(value, 'UTF-8'))"
    trips = pipeline(
        topic(2, retention_ms=-1),
        derived={"any": any_json, "text": f"try_variant_get({any_json}, '$.text', 'STRING')"},
        only={"where": f"try_variant_get({any_json}, '$.id', 'BIGINT') > 0"},
    )
    sent(trips)
    trips.run()
    rows = spark.read.format("delta").load(str(trips.data))
    found = rows.select(F.to_json("any"), "text").distinct().collect()
    assert {(text and json.loads(text)["text"], row) for text, row in found} == {
        *((None, None), ("7", "7"), ("99999999999", "99999999999"))
    }
    assert rows.schema["any"].dataType.simpleString() == "variant"
    assert trips.sluice("verify").returncode == 0


def test_an_expression_that_spark_refuses_is_named_with_its_reason(spark: SparkSession) -> None:
    shape = TableShape(parse_columns("a INT, b STRING"), derived={"c": "lower(b)", "d": "-1"})
    whole = spark.range(1).select(F.lit(1).alias("a"), F.array(F.lit("x")).alias("b"))
    with pytest.raises(SpecError) as refused:
        stored_part(whole, shape)
    told = str(refused.value)
    assert told.startswith("derived.c: found lower(b); Spark refuses it: [DATATYPE_MISMATCH")
