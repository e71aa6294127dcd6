"""docs/tables.md: every query runs as it stands there, on tables that a real run has made."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import deltalake
import pandas as pd
import polars as pl
import pytest
from deltalake import DeltaTable
from sluice.operations.reset.targets import to_earliest, to_latest, to_table

from local.embedded.broker import Broker
from tests.worlds.documented import page, questions
from tests.worlds.engines import Rows, engines
from tests.worlds.pipelines import Installed
from tests.worlds.records import produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PAGE, _, _ = page("tables.md").partition("## When the schema changes")
TRAVEL = re.compile(r"^```python\n(for_duckdb = .*?)^```$", re.MULTILINE | re.DOTALL)
SCHEMA = "carrier STRING, dep_delay DOUBLE, stops ARRAY<STRING>, seats MAP<STRING, INT>"
FORMAT = {"type": "json", "schema": SCHEMA}
VALUES = [
    b'{"carrier": "UA", "dep_delay": 4, "stops": ["ORD", "SFO"], "seats": {"first": 8}}',
    b'{"carrier": "UA", "dep_delay": 8, "stops": [], "seats": {}}',
    b'{"carrier": "DL", "dep_delay": 2}',
    b'{"carrier": "DL", "dep_delay": "late"}',
    None,
]
ALL = "duckdb pandas polars spark"


def answers(
    topic: str,
    *batches: tuple[object, ...],
    skipped: Rows | None = None,
    complete: bool = True,
) -> list[Rows]:
    """The answers, in the order of the page; the views answer nothing."""
    carriers: Rows = [("UA", 2), ("DL", 1), (None, 1)]
    first = [("UA", 4.0, 0, 0), ("UA", 8.0, 0, 1), ("DL", 2.0, 0, 2), (None, None, 0, 4)]
    return [
        *([("UA", 6.0, 2), ("DL", 2.0, 1)], [("UA", 8.0)], [], []),
        first if len(batches) == 1 else [],
        *([(topic, 0, 4)], [("UA", "ORD"), ("UA", "SFO")], [("UA", 8)]),
        [("dep_delay: expected DOUBLE", 1, 3)],
        *([], list(batches), [("UA", 8.0, "test", "pytest")]),
        *([(topic, 0, 6 if skipped else 5)], [], [], skipped or []),
        *([], carriers if complete else []),
    ]


LANDED, AGAIN = ("forward-1-1", 1, 4, 1, 0), ("forward-2-1", 3, 4, 1, 0)


def test_every_documented_query_answers_the_same_in_every_engine(
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
    all_answer(flights, spark, answers(name, LANDED), without="spark")
    flights.open().reset(to_earliest, "a test", "run", "pytest")
    flights.run()
    assert len(flights.quarantined()) == 2, "one of them is live"
    all_answer(flights, spark, answers(name, LANDED, AGAIN))
    flights.judge()
    DeltaTable(flights.data).restore(1)
    flights.open().reset(to_table, "a test", "run", "pytest")
    all_answer(flights, spark, answers(name, LANDED, complete=False), without="spark")
    flights.run()
    flights.judge()
    produce(broker.bootstrap, name, VALUES[:1])
    flights.open().reset(to_latest, "a test run", "run", "pytest")
    skipped = [(name, 0, 5, 6, "pytest", "a test run")]
    all_answer(flights, spark, answers(name, LANDED, skipped=skipped, complete=False))
    flights.judge()


def all_answer(
    flights: Installed, spark: SparkSession, expected: list[Rows], without: str = ""
) -> None:
    """Every engine answers as expected. Spark, the slowest, is left out where little is new."""
    tables = {
        "flights": flights.data,
        "flights__quarantine": flights.warehouse / "flights__quarantine",
        "offsets": flights.warehouse / "flights__offsets",
    }
    asking = engines(spark, tables)
    asking.pop(without, None)
    for engine, ask in asking.items():
        asked = [each.get(engine) for each in questions(PAGE)]
        for view in (query for query in asked if query and query.startswith("CREATE")):
            ask(view)
        for query, answer in zip(asked, expected, strict=True):
            if query:
                assert _values(ask(query)) == answer, f"{engine}: {query}"
    time_travel(flights, spark)


def time_travel(flights: Installed, spark: SparkSession) -> None:
    names = {"path": str(flights.data), "spark": spark, "deltalake": deltalake, "pd": pd, "pl": pl}
    (travel,) = TRAVEL.findall(PAGE)
    exec(travel, names)
    found = {each: names[f"for_{each}"] for each in ALL.split()}
    counts = {
        "duckdb": found["duckdb"].count_rows(),
        "pandas": len(found["pandas"]),
        "polars": found["polars"].collect().height,
        "spark": found["spark"].count(),
    }
    assert counts == dict.fromkeys(ALL.split(), 4)
    first_class = pl.col("seats").map.get("first")
    (first,) = found["polars"].select(first_class).drop_nulls().collect().rows()
    assert first == (8,)


def _values(rows: Rows) -> Rows:
    """Rows without their moments, which the engines give in different zones."""
    return [tuple(value for value in row if not isinstance(value, datetime)) for row in rows]
