"""The key filter on Spark: rows with one of the keys pass, whatever their types; few others do."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from pyspark.sql import DataFrame, SparkSession
from sluice.lake.state.key_filter import key_filter

from tests.worlds.keyed import keyed, put
from tests.worlds.pipelines import Pipelines, Topic

pytestmark = pytest.mark.spark
KEYS = 1000
# As a change has it, and as the table, which was made before a type was widened.
TYPES = [
    ("BIGINT", "INT"),
    ("INT", "SMALLINT"),
    ("DECIMAL(20, 2)", "DECIMAL(10, 2)"),
    ("STRING", "STRING"),
    ("BINARY", "BINARY"),
    ("DATE", "DATE"),
    ("TIMESTAMP", "TIMESTAMP"),
    ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ"),
]


def rows(spark: SparkSession, first: int, count: int, *types: str) -> DataFrame:
    """So many keys, their numbers as these types; the columns are k0, k1 and so on."""
    numbers = spark.range(first, first + count)
    days = "date_add(DATE'1970-01-01', CAST(id AS INT))"
    texts = "CAST(id AS STRING)"
    of = {"STRING": texts, "BINARY": f"CAST({texts} AS BINARY)"}
    made = (of.get(e, days if e[:4] in ("DATE", "TIME") else "id") for e in types)
    cast = zip(made, types, strict=True)
    return numbers.selectExpr(*(f"CAST({sql} AS {e}) AS k{at}" for at, (sql, e) in enumerate(cast)))


def passing(found: DataFrame, changes: DataFrame, key: Sequence[str]) -> int:
    condition = key_filter(changes, key, KEYS, "t")
    assert condition != "true"
    return found.alias("t").where(condition).count()


@pytest.mark.parametrize(("of_changes", "of_table"), TYPES)
def test_each_row_with_one_of_the_keys_passes(
    spark: SparkSession, of_changes: str, of_table: str
) -> None:
    changes = rows(spark, 0, KEYS, of_changes)
    assert passing(rows(spark, 0, KEYS, of_table), changes, ["k0"]) == KEYS
    others = rows(spark, KEYS, 20 * KEYS, of_table)
    assert passing(others, changes, ["k0"]) < 2 * KEYS


def test_a_key_of_numbers_with_two_spellings_is_not_looked_at(spark: SparkSession) -> None:
    changes = spark.sql("SELECT 0.0D AS k0, 'ß' COLLATE UTF8_LCASE AS k1, 7 AS k2")
    table = spark.sql("SELECT -0.0D AS k0, 'SS' COLLATE UTF8_LCASE AS k1, 7L AS k2")
    assert key_filter(changes, ["k0", "k1"], 1, "t") == "true"
    assert passing(table, changes, ["k0", "k1", "k2"]) == 1


def test_no_rows_let_all_pass(spark: SparkSession) -> None:
    assert key_filter(rows(spark, 0, 0, "INT"), ["k0"], 0, "t") == "true"


@pytest.mark.integration
def test_the_filter_is_not_written_into_the_commit(topic: Topic, pipeline: Pipelines) -> None:
    trips = keyed(topic, pipeline)
    for value in ("a", "b"):
        put(trips, 1, {"v": value})
        trips.run()
        trips.open().refresh()
    trips.judge_state()
    commits = sorted((trips.warehouse / "trips__state" / "_delta_log").glob("*.json"))
    lines = [json.loads(each) for each in commits[-1].read_text().splitlines()]
    told = next(each["commitInfo"] for each in lines if "commitInfo" in each)
    predicate = told["operationParameters"]["predicate"]
    assert "sluice_may_hold(xxhash64(" in predicate
    assert len(predicate) < 300
