"""VARIANT columns: landed, quarantined, evolved, read again, kept apart from layouts, and read."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import duckdb
import pandas as pd
import polars as pl
import pytest
from deltalake import DeltaTable
from polars.exceptions import ComputeError
from pyspark.sql import SparkSession
from sluice.errors import SpecError
from sluice.lake.upkeep import SparkUpkeep
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.targets import to_earliest

from tests.decoding.reference_json_text import one_value
from tests.decoding.reference_variant import Variant
from tests.worlds.altered_tables import alter
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

WHOLE = {"type": "json", "schema": "value VARIANT"}
FIELDS = {"type": "json", "schema": "id BIGINT, props VARIANT, list ARRAY<VARIANT>"}
RECORDS = [
    b'{"id": 1, "props": {"price": 1.50, "tags": ["a", null]}, "list": [1, {"x": "y"}, null]}',
    b'{"id": 2, "props": [1e2, "text", 9223372036854775808]}',
    b'{"id": 3, "props": null}',
    b'{"id": 4, "props": "text"}',
]
LOSES = b'{"id": 5, "props": {"n": 1e999}}'


def send(trips: Installed, *values: bytes | None) -> None:
    produce(trips.bootstrap, trips.topics[0], list(values))


def exact(trips: Installed, rows: int, quarantined: int = 0) -> None:
    """To the oracle, and to `sluice verify`."""
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (rows, quarantined)
    done = trips.sluice("verify")
    assert done.returncode == 0, done.stdout + done.stderr


def test_records_of_any_shape_land_and_stay(
    topic: Topic, pipeline: Pipelines, spark: SparkSession
) -> None:
    trips = pipeline(
        topic(partitions=3, retention_ms=-1), format=WHOLE, quarantine={"max_ratio": 1}
    )
    send(trips, *RECORDS, b"[1, 2]", b'"text"', b"null", None, LOSES, b"{", b'"\x00"')
    trips.run()
    exact(trips, 8, 3)
    told = sorted(each["error"].partition(", found")[0] for each in trips.quarantined())
    assert told[-1].startswith("not one JSON value")
    assert told[0].startswith("expected a number of at most 38 digits")
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    trips.run()
    SparkUpkeep(spark, trips.open().resources).compact(str(trips.data))
    exact(trips, 8, 3)
    rows = spark.read.format("delta").load(str(trips.data))
    found = rows.selectExpr("to_json(value) text").collect()
    assert sorted(row.text for row in found if row.text) == sorted(
        # Numbers without zeros at their end: Spark writes them so, the table has them.
        json.dumps(json.loads(each), separators=(",", ":"), sort_keys=True)
        for each in (*RECORDS, b"[1, 2]", b'"text"', b"null")
    )


def test_fields_of_any_shape_come_and_are_read_again(topic: Topic, pipeline: Pipelines) -> None:
    plain = {**FIELDS, "schema": "id BIGINT"}
    keys = {"evolution": "add_columns", "quarantine": {"max_ratio": 1}}
    trips = pipeline(topic(retention_ms=-1), format=plain, **keys)
    send(trips, *RECORDS)
    trips.run()
    trips.write_spec(format=FIELDS, **keys)
    told = trips.sluice("plan").stdout
    assert "the table gets a column props VARIANT" in told, told
    send(trips, *RECORDS, LOSES, None)
    trips.run()
    (aside,) = trips.quarantined()
    assert aside["error"].startswith("props: expected a number of at most 38 digits")
    again = trips.open().backfill(offset_ranges([f"{trips.topics[0]}[0] [0, 4)"]), "test", "pytest")
    assert again.work is not None
    trips.ingest(again.work)
    trips.settle()
    exact(trips, 9, 1)
    rules_hold(trips)


def rules_hold(trips: Installed) -> None:
    price = "try_variant_get(props, '$.price', 'INT')"
    alter(trips, f"ADD CONSTRAINT paid CHECK ({price} > 0 OR {price} IS NULL)")
    send(trips, b'{"id": 6, "props": {"price": 2}}', b'{"id": 7, "props": {"price": -1}}')
    trips.run()
    errors = [each["error"] for each in trips.quarantined() if each["_offset"] == 11]
    (error,) = errors
    assert error.startswith("the table's CHECK constraint paid (")
    exact(trips, 10, 2)


@pytest.mark.parametrize("key", ["partition_by", "cluster_by"])
def test_no_table_is_laid_out_by_a_variant(topic: Topic, pipeline: Pipelines, key: str) -> None:
    trips = pipeline(topic(), format=FIELDS)
    trips.write_spec(format=FIELDS, **{key: ["props"]})
    with pytest.raises(SpecError, match=f"{key}: found 'props'.*; allowed: .*id"):
        trips.open()


def test_keys_may_be_of_any_shape(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), format=FIELDS, key_format=WHOLE)
    produce(trips.bootstrap, trips.topics[0], RECORDS, key=b'["a", 1]')
    trips.run()
    exact(trips, 4)
    assert all(row["_key_value"]["metadata"] for row in trips.rows())


PAGE = (Path(__file__).parents[3] / "docs" / "tables.md").read_text(encoding="utf-8")
RECIPES = dict(
    re.findall(
        r"^```(sql|python duckdb)\n(.*?)^```$",
        PAGE.partition("## VARIANT columns")[2].partition("\n## ")[0],
        re.MULTILINE | re.DOTALL,
    )
)


def test_readers_make_of_it_what_the_page_says(
    topic: Topic, pipeline: Pipelines, spark: SparkSession
) -> None:
    trips = pipeline(topic(), format={"type": "json", "schema": "id BIGINT, props VARIANT"})
    send(trips, *RECORDS)
    trips.run()
    path, table = str(trips.data), DeltaTable(trips.data)
    spark.read.format("delta").load(path).createOrReplaceTempView("trips")
    in_spark = spark.sql(RECIPES["sql"]).collect()
    with duckdb.connect() as database:
        names: dict[str, Any] = {"path": path, "deltalake": deltalake, "duckdb": database}
        exec(RECIPES["python duckdb"], names)
    first, second, last = (
        '{"price":1.50,"tags":["a",null]}',
        '[100.0,"text",9223372036854775808]',
        '"text"',
    )
    price = Decimal("1.50")
    others = [(2, None, second), (3, None, None), (4, None, last)]
    assert names["rows"] == [(1, price, first), *others]
    shorter = first.replace("1.50", "1.5")
    assert [tuple(row) for row in in_spark] == [(1, price, shorter), *others]
    with pytest.raises(Exception, match="non-nullable"):
        spark.table("trips").toArrow()
    # Its bytes, to those that do not know the type.
    rows = table.to_pyarrow_table().sort_by("id").to_pylist()
    assert Variant.read(**rows[0]["props"]) == Variant.of(one_value(first.encode()))
    frame = table.to_pandas(types_mapper=pd.ArrowDtype).sort_values("id")
    assert frame["props"].tolist()[0] == rows[0]["props"]
    with pytest.raises(ComputeError, match="LogicalType union has no variant"):
        pl.scan_delta(path).select("id").collect()
    frame_of_arrow = pl.DataFrame(table.to_pyarrow_table().sort_by("id"))
    assert frame_of_arrow["props"].to_list() == [row["props"] for row in rows]
