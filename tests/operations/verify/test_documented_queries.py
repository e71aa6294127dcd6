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
from sluice.operations.reset.targets import to_earliest, to_latest, to_table

from local.embedded.broker import Broker
from tests.worlds.pipelines import Installed
from tests.worlds.records import produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PAGE = Path(__file__).parents[3] / "docs" / "tables.md"
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
VIEW = next(query for query in QUERIES if query.startswith("CREATE"))
ANALYSTS = [("UA", 6.0, 2), ("DL", 2.0, 1)], [("UA", 8.0)], []
LANDED, AGAIN = ("forward-1-1", 1, 4, 1, 0), ("forward-2-1", 3, 4, 1, 0)


def answers(topic: str, *batches: tuple[object, ...], skipped: Rows | None = None) -> list[Rows]:
    """The answers, in the order of the page."""
    aside, cursor = [("dep_delay: expected DOUBLE", 1, 3)], 6 if skipped else 5
    return [*ANALYSTS, aside, [], list(batches), [(topic, 0, cursor)], [], [], skipped or []]


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
    both_answer(flights, spark, answers(name, LANDED))
    flights.open().reset(to_earliest, "a test", "run", "pytest")
    flights.run()
    assert len(flights.quarantined()) == 2, "one of them is live"
    both_answer(flights, spark, answers(name, LANDED, AGAIN))
    flights.judge()
    DeltaTable(flights.data).restore(1)
    flights.open().reset(to_table, "a test", "run", "pytest")
    both_answer(flights, spark, answers(name, LANDED))
    flights.run()
    flights.judge()
    produce(broker.bootstrap, name, VALUES[:1])
    flights.open().reset(to_latest, "a test run", "run", "pytest")
    skipped = [(name, 0, 5, 6, "pytest", "a test run")]
    both_answer(flights, spark, answers(name, LANDED, skipped=skipped))
    flights.judge()


def both_answer(flights: Installed, spark: SparkSession, expected: list[Rows]) -> None:
    tables = {
        "flights": flights.data,
        "flights__quarantine": flights.warehouse / "flights__quarantine",
        "offsets": flights.warehouse / "flights__offsets",
    }
    with_duckdb, with_spark = _with_duckdb(tables), _with_spark(spark, tables)
    assert len(QUERIES) == len(expected)
    assert [_values(rows) for rows in with_duckdb] == expected
    assert [_values(rows) for rows in with_spark] == expected


def _values(rows: Rows) -> Rows:
    """Rows without their moments, which the engines give in different zones."""
    return [tuple(value for value in row if not isinstance(value, datetime)) for row in rows]


def _with_duckdb(tables: dict[str, Path]) -> list[Rows]:
    with duckdb.connect() as database:
        for name, path in tables.items():
            database.register(name, DeltaTable(path).to_pyarrow_dataset())
        database.execute(VIEW)
        return [database.execute(query).fetchall() for query in QUERIES]


def _with_spark(spark: SparkSession, tables: dict[str, Path]) -> list[Rows]:
    for name, path in tables.items():
        spark.read.format("delta").load(str(path)).createOrReplaceTempView(name)
    spark.sql(VIEW)
    return [[tuple(row) for row in spark.sql(query).collect()] for query in QUERIES]
