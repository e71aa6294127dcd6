"""Any name is a column: created, landed, laid out, changed, read again and read by every engine."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.exceptions import SchemaFieldNotFoundError
from pyspark.sql import SparkSession
from sluice.columns.names import quoted
from sluice.errors import SpecError
from sluice.lake.table_creation import create_data_table
from sluice.lake.upkeep import SparkUpkeep
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.targets import to_earliest
from sluice.tables.stored_settings import stored_settings
from sluice.tables.table_files import open_table

from tests.worlds.altered_tables import alter
from tests.worlds.engines import ALL, rows_by
from tests.worlds.odd_names import ODD, schema_of, values_of
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def json_of(schema: str) -> dict[str, str]:
    return {"type": "json", "schema": schema}


def send(trips: Installed, *records: dict[str, Any] | None) -> None:
    values = [None if each is None else json.dumps(each).encode() for each in records]
    produce(trips.bootstrap, trips.topics[0], values)


def exact(trips: Installed, rows: int) -> None:
    """To the oracle, and to `sluice verify`."""
    assert trips.judge().facts.rows == rows
    done = trips.sluice("verify")
    assert done.returncode == 0, done.stdout + done.stderr


def read_again(trips: Installed) -> None:
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    trips.run()


def reads_alike(trips: Installed, spark: SparkSession, *engines: str) -> None:
    """These engines, or all, find what the first two records said under each odd name."""
    for engine in engines or ALL:
        rows = rows_by(engine, trips.data, spark)
        found = [{name: row[name] for name in ODD} for row in rows[:2]]
        assert found == [values_of(ODD, 1), values_of(ODD, 2)], engine


def test_any_name_is_a_column(topic: Topic, pipeline: Pipelines, spark: SparkSession) -> None:
    comments = {each: f"it's `{each}` 😀" for each in ODD}
    trips = pipeline(
        topic(retention_ms=-1),
        format=json_of(f"{schema_of(ODD)}, `n?.` INT"),
        comments=comments,
        evolution="add_columns",
        quarantine={"max_ratio": 1},
    )
    send(trips, values_of(ODD, 1), values_of(ODD, 2), None, {"n?.": "x"})
    trips.run()
    exact(trips, 3)
    found = stored_settings(open_table(str(trips.data))).comments
    assert {name: text for name, text in found.items() if text} == comments
    columns_come_and_rules_hold(trips)
    read_again(trips)
    SparkUpkeep(spark, trips.open().resources).compact(str(trips.data))
    exact(trips, 5)
    reads_alike(trips, spark)


def columns_come_and_rules_hold(trips: Installed) -> None:
    alter(trips, "ADD CONSTRAINT `c-1` CHECK (`n?.` > 0 OR `n?.` IS NULL)")
    alter(trips, "ADD CONSTRAINT `d` CHECK (`a``b` <> 'bad' OR `a``b` IS NULL)")
    alter(trips, "ADD CONSTRAINT `e` CHECK (`İstanbul` <> 'bad' OR `İstanbul` IS NULL)")
    trips.write_spec(format=json_of(f"{schema_of(ODD)}, `n?.` INT, `new$.` BIGINT"))
    told = trips.sluice("plan").stdout
    assert "the table gets a column `new$.` BIGINT" in told
    send(trips, {"new$.": 7}, {"n?.": -1}, {"n?.": 1}, {"a`b": "bad"}, {"İstanbul": "bad"})
    trips.run()
    exact(trips, 5)
    assert [row["new$."] for row in trips.rows() if row["_offset"] == 4] == [7]
    errors = {row["_offset"]: row["error"] for row in trips.quarantined()}
    assert errors == {
        3: 'n?.: expected INT, found "x"',
        5: "the table's CHECK constraint c-1 (`n?.` > 0 OR `n?.` IS NULL) is broken",
        7: "the table's CHECK constraint d (`a``b` <> 'bad' OR `a``b` IS NULL) is broken",
        8: "the table's CHECK constraint e (`İstanbul` <> 'bad' OR `İstanbul` IS NULL) is broken",
    }


ESCAPED = [
    *("\x01", "a/b", "a%b", "a:b", "a*b", "a\\b", "a'b", 'a"b', "a#b", "a?b", "a[b", "a]b", "a^b"),
]
IN_PATHS = ["_id", "日本", "émoji😀", "select", "$", "a`b", "..", ".", "a+b", "a&b", "_metadata"]


def test_any_name_partitions_a_table(
    topic: Topic, pipeline: Pipelines, spark: SparkSession
) -> None:
    layout = {"partition_by": [*IN_PATHS, *ESCAPED]}
    trips = pipeline(topic(retention_ms=-1), format=json_of(schema_of(ODD)), **layout)
    send(trips, values_of(ODD, 1), values_of(ODD, 2), None)
    trips.run()
    reads_alike(trips, spark, "duckdb", "pandas", "spark")
    files = [each.relative_to(trips.data) for each in trips.data.rglob("*.parquet")]
    (folders,) = {tuple(each.partition("=")[0] for each in file.parts[:-1]) for file in files}
    assert {*folders} & {*ESCAPED, *IN_PATHS} == {*IN_PATHS}
    with pytest.raises(SchemaFieldNotFoundError, match="not present in the given Hive schema"):
        pl.scan_delta(str(trips.data)).collect()
    read_again(trips)
    assert trips.open().maintain("test", "pytest").postponed == ()
    exact(trips, 3)


def test_any_name_clusters_a_table_but_those_that_delta_miscounts(
    topic: Topic, pipeline: Pipelines, spark: SparkSession, tmp_path: Path
) -> None:
    trips = pipeline(topic(retention_ms=-1))
    able = [name for name in ODD if max(name) <= "\uffff"]
    for at in range(0, len(able), 4):
        some, where = able[at : at + 4], tmp_path / f"c{at}"
        trips.write_spec(format=json_of(schema_of(some)), cluster_by=some)
        create_data_table(spark, str(where), trips.open().resources.spec)
        assert clustering(where) == some
    schema, comments = f"{schema_of(ODD)}, nested STRUCT<`😀`: INT>", {"a": "émoji 😀"}
    clustered = ["a.b", "a`b", "日本", "_id"]
    trips.write_spec(format=json_of(schema), comments=comments, cluster_by=clustered)
    for first in (1, 3):
        send(trips, values_of(ODD, first), values_of(ODD, first + 1))
        trips.run()
    spark.sql(f"OPTIMIZE delta.`{trips.data}` FULL").collect()
    exact(trips, 4)
    reads_alike(trips, spark)


def clustering(table: Path) -> list[str]:
    """The columns that a table is clustered by, as its log has them."""
    actions = map(json.loads, (table / "_delta_log" / f"{0:020d}.json").read_bytes().splitlines())
    (domain,) = (each["domainMetadata"] for each in actions if "domainMetadata" in each)
    return [name for (name,) in json.loads(domain["configuration"])["clusteringColumns"]]


def test_any_name_is_a_field_of_a_struct(topic: Topic, pipeline: Pipelines) -> None:
    def schema(whole: str) -> str:
        fields = f"STRUCT<{schema_of(ODD)}, `n-` {whole}>"
        return f"`s.` {fields}, `l'` ARRAY<{fields}>, `m%` MAP<STRING, {fields}>, `n.` {whole}"

    trips = pipeline(topic(retention_ms=-1), format=json_of(schema("INT")), evolution="widen")
    fields = values_of(ODD) | {"n-": 1}
    record = {"s.": fields, "l'": [fields, None, {}], "m%": {"`": fields, ".": None}, "n.": 1}
    send(trips, record, None, {"n.": None})
    trips.run()
    trips.write_spec(format=json_of(schema("BIGINT")))
    wide = record | {"s.": fields | {"n-": 2**40}, "n.": 2**40}
    send(trips, wide)
    trips.run()
    asked = offset_ranges([f"{trips.topics[0]}[0] [0, 2)"])
    trips.ingest(trips.open().backfill(asked, "test", "pytest").work)
    trips.settle()
    exact(trips, 4)


def test_any_name_is_derived_from_left_out_and_derived(topic: Topic, pipeline: Pipelines) -> None:
    # A backslash is refused in expressions.
    given = [name for name in ODD if "\\" not in name]
    derived = {f"{name}-😀.`": f"lower({quoted(name)})" for name in given[:99]}
    layout = {"derived": derived | {"s.!": "`s.`.`a.``b`"}, "partition_by": ["#-😀.`"]}
    schema = f"{schema_of(ODD)}, `s.` STRUCT<`a.``b`: INT>"
    trips = pipeline(topic(), format=json_of(schema), exclude=given, **layout)
    values = values_of(ODD)
    send(trips, values | {"s.": {"a.`b": 7}})
    trips.run()
    (row,) = trips.rows()
    assert {name: row[name] for name in derived} == {
        f"{name}-😀.`": values[name].lower() for name in given[:99]
    }
    assert row["s.!"] == 7
    assert not row.keys() & {*given}

    def by_hand(value: bytes) -> dict[str, Any]:
        sent = json.loads(value)
        found = {f"{name}-😀.`": sent[name].lower() for name in given[:99]}
        left = {name: sent[name] for name in ODD if name not in given}
        return found | left | {"s.": sent["s."], "s.!": 7}

    assert trips.judge(decode=by_hand).facts.rows == 1


@pytest.mark.parametrize(
    ("given", "sent", "landed"),
    [
        (
            "`@timestamp` TIMESTAMP, `request-id` BIGINT, message STRING",
            {"@timestamp": "2023-11-14T22:13:20Z", "request-id": 7, "message": "GET /"},
            {"@timestamp": datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC), "request-id": 7},
        ),
        (
            "id BIGINT, name STRING, __op STRING, __deleted STRING",
            {"id": 1, "name": "a", "__op": "c", "__deleted": "false", "__source_ts_ms": 17},
            {"id": 1, "__op": "c", "__deleted": "false", "_rescued": '{"__source_ts_ms":17}'},
        ),
        (
            "`log.level` STRING, `http.status_code` INT, message STRING",
            {"log.level": "info", "http.status_code": 200, "Date Time": "22:13", "message": "m"},
            {"log.level": "info", "http.status_code": 200, "_rescued": '{"Date Time":"22:13"}'},
        ),
    ],
    ids=["logstash", "change_events", "dotted"],
)
def test_fields_as_others_name_them_are_columns(
    topic: Topic,
    pipeline: Pipelines,
    given: str,
    sent: dict[str, Any],
    landed: dict[str, Any],
) -> None:
    trips = pipeline(topic(), format=json_of(given), rescue=True)
    send(trips, sent)
    trips.run()
    exact(trips, 1)
    (row,) = trips.rows()
    assert {name: row[name] for name in landed} == landed


def test_of_fields_whose_names_differ_only_in_case_a_file_gives_the_first(
    topic: Topic, pipeline: Pipelines
) -> None:
    twins = "userId BIGINT, userID STRING"
    trips = pipeline(topic(), format=json_of(twins))
    with pytest.raises(SpecError, match="userID: declared twice"):
        trips.plan()
    types = {"userId": {"type": "integer"}, "userID": {"type": "string"}}
    file = trips.spec_file.with_name("users.json")
    file.write_text(json.dumps({"properties": types}), encoding="utf-8")
    trips.write_spec(format={"type": "json", "schema_file": file.name}, rescue=True)
    (unread,) = trips.open().resources.spec.format.declared.unread
    assert str(unread).startswith("$.userID: declared twice")
    send(trips, {"userId": 1, "userID": "legacy-1"}, {"userID": "legacy-2"})
    trips.run()
    assert trips.judge(fmt="json", schema="userId BIGINT", allow_unmatched=True).facts.rows == 2
    assert [(row["userId"], row["_rescued"]) for row in trips.rows()] == [
        (1, '{"userID":"legacy-1"}'),
        (None, '{"userID":"legacy-2"}'),
    ]


def test_polars_reads_what_is_partitioned_by_a_name_that_paths_hold_as_it_is(
    topic: Topic, pipeline: Pipelines, spark: SparkSession
) -> None:
    layout = {"partition_by": IN_PATHS}
    trips = pipeline(topic(), format=json_of(schema_of(ODD)), **layout)
    send(trips, values_of(ODD, 1), values_of(ODD, 2))
    trips.run()
    exact(trips, 2)
    reads_alike(trips, spark, "polars")
