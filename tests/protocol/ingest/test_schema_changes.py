"""The schema changes: what docs/tables.md says of renames, drops and other types, as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from deltalake import DeltaTable
from deltalake.exceptions import DeltaProtocolError
from pyspark.sql import SparkSession
from sluice.errors import SpecError
from sluice.operations.backfill.selection import offset_ranges

from tests.decoding.reference_json import decode
from tests.worlds.engines import Rows, engines
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_records, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PAGE = (Path(__file__).parents[3] / "docs" / "tables.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## When the schema changes")[2]
BEFORE = {"format": {"type": "json", "schema": "carrier STRING, dest STRING"}}
BOTH = "carrier STRING, dest STRING, destination STRING"


def recipe(heading: str) -> tuple[dict[str, Any], str]:
    """The keys of a spec, and the query, below a heading."""
    text = SECTION.partition(f"### {heading}\n")[2].partition("\n### ")[0]
    (keys,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    queries = re.findall(r"^```sql .*?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return yaml.safe_load(keys), "".join(queries)


@pytest.fixture
def flights(topic: Topic, pipeline: Pipelines) -> Installed:
    """One row, of before the change."""
    flights = pipeline(topic(retention_ms=-1), **BEFORE)
    flights.name = "flights"
    flights.write_spec()
    land(flights, b'{"carrier": "UA", "dest": "7"}')
    return flights


def land(flights: Installed, value: bytes) -> None:
    produce(flights.bootstrap, flights.topics[0], [value])
    flights.run()


def read_again(flights: Installed, end: int) -> None:
    asked = offset_ranges([f"{flights.topics[0]}[0] [0, {end})"])
    flights.ingest(flights.open().backfill(asked, "test", "test").work)
    flights.settle()


def asked_of_all(spark: SparkSession, query: str, *tables: Installed) -> Iterator[Rows]:
    """What the query answers in each engine."""
    for ask in engines(spark, {each.name: each.data for each in tables}).values():
        yield ask(query)


def test_a_field_with_a_new_name(flights: Installed, spark: SparkSession) -> None:
    keys, _ = recipe("A field has a new name in the records")
    flights.write_spec(**keys)
    land(flights, b'{"carrier": "DL", "destination": "8"}')
    query = "SELECT carrier, dest FROM flights ORDER BY _offset"
    for rows in asked_of_all(spark, query, flights):
        assert rows == [("UA", "7"), ("DL", "8")]

    def expected(value: bytes) -> dict[str, Any]:
        sent = decode(value, BOTH)
        assert isinstance(sent, dict)
        return {"carrier": sent["carrier"], "dest": sent["destination"] or sent["dest"]}

    assert flights.judge(decode=expected).facts.rows == 2
    assert [each.name for each in DeltaTable(flights.data).schema().fields][:3] == [
        *("carrier", "dest", "_topic"),
    ]


def test_a_column_with_a_new_name(flights: Installed, spark: SparkSession) -> None:
    keys, query = recipe("A column gets a new name")
    flights.write_spec(**keys)
    land(flights, b'{"carrier": "DL", "dest": "8"}')
    answer = [("UA", "7"), ("DL", "8")]
    for rows in asked_of_all(spark, query, flights):
        assert rows == answer
    read_again(flights, 1)
    for rows in asked_of_all(spark, query, flights):
        assert rows == answer

    def expected(value: bytes) -> dict[str, Any]:
        sent = decode(value, BOTH)
        assert isinstance(sent, dict)
        return {"carrier": sent["carrier"], "dest": None, "destination": sent["dest"]}

    assert flights.judge(decode=expected).facts.rows == 2


def test_a_column_that_is_not_wanted(flights: Installed) -> None:
    keys, _ = recipe("A column is not wanted any more")
    flights.write_spec(**keys)
    land(flights, b'{"carrier": "DL", "dest": "8"}')
    assert {(row["carrier"], row["dest"]) for row in flights.rows()} == {("UA", "7"), ("DL", None)}
    read_again(flights, 1)
    assert {(row["carrier"], row["dest"]) for row in flights.rows()} == {("UA", None), ("DL", None)}

    def expected(value: bytes) -> dict[str, Any]:
        sent = decode(value, BOTH)
        assert isinstance(sent, dict)
        return {"carrier": sent["carrier"], "dest": None}

    assert flights.judge(decode=expected).facts.rows == 2
    assert flights.sluice("verify").returncode == 0


def test_deltas_own_renames_are_read_by_spark_only(flights: Installed, spark: SparkSession) -> None:
    table = f"delta.`{flights.data}`"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN dest TO destination")
    spark.sql(f"ALTER TABLE {table} DROP COLUMN carrier")
    keys, _ = recipe("A column gets a new name")
    flights.write_spec(**keys | {"exclude": ["dest", "carrier"]})
    land(flights, b'{"carrier": "DL", "dest": "8"}')
    found = spark.sql(f"SELECT * FROM {table} ORDER BY _offset").collect()
    assert [row["destination"] for row in found] == ["7", "8"]
    assert found[0].asDict().keys() & {"carrier", "dest", "destination"} == {"destination"}
    assert flights.sluice("verify").returncode == 0
    assert {row["destination"] for row in flights.rows()} == {None}, "expected what delta-rs reads"
    with pytest.raises(DeltaProtocolError, match="column mapping"):
        pl.scan_delta(str(flights.data)).collect()

    def expected(value: bytes) -> dict[str, Any]:
        sent = decode(value, BOTH)
        assert isinstance(sent, dict)
        return {"destination": sent["dest"]}

    assert flights.judge(decode=expected).facts.rows == 2
    read_again(flights, 1)
    assert flights.judge(decode=expected).facts.rows == 2


def test_another_type(flights: Installed, spark: SparkSession) -> None:
    land(flights, b'{"carrier": "DL", "dest": "8"}')
    keys, query = recipe("A column gets a type that does not hold the old values")
    flights.write_spec(format=keys["format"])
    with pytest.raises(SpecError, match="dest: expected STRING as in the rows"):
        flights.plan()
    flights.write_spec(**BEFORE)
    produce(flights.bootstrap, flights.topics[0], [b'{"carrier": "AA", "dest": 9}'])
    flights.run()
    assert flights.judge().facts.rows == 3
    delete_records(flights.bootstrap, flights.topics[0], before=2)
    new = replace(flights, name=keys["pipeline"], keys={}, runs=[])
    new.write_spec(**keys)
    new.run()
    assert new.judge().facts.rows == 1
    for rows in asked_of_all(spark, query, flights, new):
        assert rows == [("UA", 7, 0), ("DL", 8, 1), ("AA", 9, 2)]
