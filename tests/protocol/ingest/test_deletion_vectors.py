"""A table with deletion vectors: who reads it rightly, who refuses it, and what brings rows back.

By the recipes of docs/tables.md and docs/state.md, as they stand there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deltalake
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaProtocolError
from pyspark.sql import SparkSession

from tests.worlds.documented import section
from tests.worlds.engines import rows_by

pytestmark = pytest.mark.spark

PYTHON = re.compile(r"^```python(?: \w+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROWS = [(0, "a"), (2, "new"), *((number, "a") for number in range(4, 100))]
REFUSES = "deletionVectors"


@pytest.fixture(params=["", ", 'delta.enableChangeDataFeed' = 'true'"], ids=["plain", "with feed"])
def marked(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Path:
    """One file of 100 rows: Spark has marked two as deleted, and one as replaced by a new file."""
    path = tmp_path / "trips__state"
    spark.sql(f"""
        CREATE TABLE delta.`{path}` (_offset BIGINT, name STRING) USING delta
        TBLPROPERTIES ('delta.enableDeletionVectors' = 'true'{request.param})
    """)
    frame = spark.range(0, 100, 1, 1).selectExpr("id AS _offset", "'a' AS name")
    frame.write.format("delta").mode("append").save(str(path))
    spark.sql(f"DELETE FROM delta.`{path}` WHERE _offset = 1")
    spark.sql(f"""
        MERGE INTO delta.`{path}` AS old USING (SELECT explode(array(2L, 3L)) AS id) AS new
        ON old._offset = new.id
        WHEN MATCHED AND new.id = 2 THEN UPDATE SET name = 'new'
        WHEN MATCHED THEN DELETE
    """)
    assert vectors(path) == 3, "expected marked rows, not rewritten files"
    return path


def vectors(path: Path) -> int:
    """How many rows the newest deletion vector marks, by the table's log."""
    commits = sorted((path / "_delta_log").glob("*.json"))
    actions = [json.loads(line) for each in commits for line in each.read_text().splitlines()]
    marks = [each["add"].get("deletionVector") for each in actions if "add" in each]
    return [each["cardinality"] for each in marks if each][-1]


def told(rows: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return sorted((row["_offset"], row["name"]) for row in rows)


def by_recipe(code: str, path: Path) -> dict[str, Any]:
    """The names that the recipe leaves."""
    names: dict[str, Any] = {"path": str(path), "deltalake": deltalake, "duckdb": duckdb}
    names |= {"pa": pa, "pd": pd}
    exec(code, names)
    return names


def test_spark_and_polars_read_no_deleted_row(marked: Path, spark: SparkSession) -> None:
    for engine in ("spark", "polars"):
        assert told(rows_by(engine, marked, spark)) == ROWS, engine
    DeltaTable(marked).create_checkpoint()
    scan = pl.scan_delta(str(marked))
    assert told(scan.collect().to_dicts()) == ROWS
    assert told(scan.filter(pl.col("_offset") < 5).collect().to_dicts()) == ROWS[:3]
    assert scan.select(pl.len()).collect().item() == len(ROWS)


def test_duckdb_pandas_and_pyarrow_refuse_the_table(marked: Path, spark: SparkSession) -> None:
    table = DeltaTable(marked)
    refused: list[Callable[[], object]] = [
        lambda: rows_by("duckdb", marked, spark),
        lambda: rows_by("pandas", marked, spark),
        table.to_pyarrow_table,
        table.to_pyarrow_dataset,
        table.to_pandas,
    ]
    for read in refused:
        with pytest.raises(DeltaProtocolError, match=REFUSES):
            read()
    # Also the version before any row was marked: the feature is the table's.
    with pytest.raises(DeltaProtocolError, match=REFUSES):
        DeltaTable(marked, version=0).to_pyarrow_dataset()


def test_the_recipe_of_the_page_reads_it_into_duckdb_and_pandas(marked: Path) -> None:
    (recipe,) = PYTHON.findall(section("state.md", "## Which readers"))
    frame = by_recipe(recipe, marked)["frame"]
    assert told(frame.to_dict("records")) == ROWS
    assert sorted(duckdb.execute("SELECT _offset, name FROM state").fetchall()) == ROWS
    duckdb.unregister("state")


def test_a_reader_of_the_files_alone_brings_deleted_rows_back(marked: Path) -> None:
    """What docs/tables.md warns of where it reads the files of a widened table."""
    recipes = PYTHON.findall(section("tables.md", "## Reading without loss"))
    (files,) = (each for each in recipes if each.startswith("files ="))
    found = told(by_recipe(files, marked)["rows"])
    assert found == sorted([*ROWS, (1, "a"), (2, "a"), (3, "a")])
    # From the statistics of files.
    assert DeltaTable(marked).count() == len(found)
