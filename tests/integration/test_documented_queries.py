"""docs/tables.md: every query runs as it stands there, on tables that a real run has made."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from deltalake import DeltaTable

from local.broker import Broker
from tests.integration.pipelines import Installed
from tests.integration.records import produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
FENCE = re.compile(r"^```sql duckdb spark\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUERIES = FENCE.findall(PAGE.read_text(encoding="utf-8"))
FORMAT = {"type": "json", "schema": "carrier STRING, dep_delay DOUBLE"}
VALUES = [
    b'{"carrier": "UA", "dep_delay": 4}',
    b'{"carrier": "UA", "dep_delay": 8}',
    b'{"carrier": "DL", "dep_delay": 2}',
    b'{"carrier": "DL", "dep_delay": "late"}',
    None,
]
Rows = list[tuple[object, ...]]
# The answers, in the order of the page, given the topic's name.
EXPECTED: list[Callable[[str], Rows]] = [
    lambda topic: [("UA", 6.0, 2), ("DL", 2.0, 1)],
    lambda topic: [("UA", 8.0)],
    lambda topic: [],
    lambda topic: [("dep_delay: not a DOUBLE", 1, 3)],
    lambda topic: [("forward-1-1", 1, 4, 1, 0)],
    lambda topic: [(topic, 0, 5)],
    lambda topic: [],
    lambda topic: [],
]


def test_every_documented_query_answers_the_same_in_both_engines(
    pipeline: Callable[..., Installed],
    topic: Callable[..., str],
    broker: Broker,
    spark: SparkSession,
) -> None:
    name = topic()
    flights = pipeline(name, format=FORMAT, quarantine={"max_ratio": 1})
    flights.name = "flights"
    flights.write_spec()
    produce(broker.bootstrap, name, VALUES[:2], key=b"UA")
    produce(broker.bootstrap, name, VALUES[2:], key=b"DL")
    flights.run()
    tables = {
        "flights": flights.data,
        "flights__quarantine": flights.warehouse / "flights__quarantine",
        "offsets": flights.warehouse / "_sluice" / "offsets",
    }
    for query, expected in zip(QUERIES, EXPECTED, strict=True):
        assert _values(_with_duckdb(tables, query)) == expected(name)
        assert _values(_with_spark(spark, tables, query)) == expected(name)
    flights.judge()


def _values(rows: Rows) -> Rows:
    """Rows without their moments, which the engines give in different zones."""
    return [tuple(value for value in row if not isinstance(value, datetime)) for row in rows]


def _with_duckdb(tables: dict[str, Path], query: str) -> Rows:
    with duckdb.connect() as database:
        for name, path in tables.items():
            database.register(name, DeltaTable(path).to_pyarrow_dataset())
        return database.execute(query).fetchall()


def _with_spark(
    spark: SparkSession, tables: dict[str, Path], query: str
) -> list[tuple[object, ...]]:
    for name, path in tables.items():
        spark.read.format("delta").load(str(path)).createOrReplaceTempView(name)
    return [tuple(row) for row in spark.sql(query).collect()]
