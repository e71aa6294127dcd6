"""A table that widens its types: Spark reads it, and DuckDB by the recipe of docs/tables.md."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import duckdb
import polars as pl
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaProtocolError
from pyspark.sql import SparkSession

from tests.decoding.reference_json import decode
from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PAGE = (Path(__file__).parents[3] / "docs" / "tables.md").read_text(encoding="utf-8")
RECIPE = re.compile(r"^```python\n(files = .*?)^```$", re.MULTILINE | re.DOTALL)
NARROW = "id INT, part STRUCT<x: FLOAT>, price DECIMAL(5,2), many ARRAY<INT>, city STRING"
WIDE = "id BIGINT, part STRUCT<x: DOUBLE>, price DECIMAL(7,3), many ARRAY<BIGINT>, city STRING"


@pytest.mark.parametrize("layout", [{}, {"partition_by": ["city"]}], ids=["plain", "partitioned"])
def test_a_widened_table_is_read_by_its_files(
    topic: Topic, pipeline: Pipelines, spark: SparkSession, layout: dict[str, Any]
) -> None:
    small = b'{"id": 1, "part": {"x": 0.1}, "price": 999.99, "many": [1, null], "city": "007"}'
    large = b'{"id": 9000000000, "part": {"x": 0.1}, "price": 9999.999, "many": [9000000000]}'
    keys = {"evolution": "widen", **layout}
    trips = pipeline(topic(), format={"type": "json", "schema": NARROW}, **keys)
    produce(trips.bootstrap, trips.topics[0], [small, None])
    trips.run()
    for read in (
        lambda: DeltaTable(trips.data).to_pyarrow_dataset(),
        lambda: pl.scan_delta(str(trips.data)).collect(),
    ):
        with pytest.raises(DeltaProtocolError, match="typeWidening"):
            read()
    trips.write_spec(format={"type": "json", "schema": WIDE})
    produce(trips.bootstrap, trips.topics[0], [large])
    trips.run()
    names: dict[str, Any] = {"path": str(trips.data), "duckdb": duckdb, "deltalake": deltalake}
    (recipe,) = RECIPE.findall(PAGE)
    exec(recipe, names)
    fields = ("id", "part", "price", "many", "city", "_timestamp", "_key", "_tombstone", "_batch")
    found = [{each: row[each] for each in fields} for row in by_offset(names["rows"])]
    by_spark = by_offset(spark.read.format("delta").load(str(trips.data)).toArrow().to_pylist())
    assert found == [{each: row[each] for each in fields} for row in by_spark]
    single = 0.10000000149011612
    assert [tuple(row.values())[:5] for row in found] == [
        (1, {"x": single}, Decimal("999.990"), [1, None], "007"),
        (None, None, None, None, None),
        (9_000_000_000, {"x": 0.1}, Decimal("9999.999"), [9_000_000_000], None),
    ]
    assert trips.judge(decode=expected).facts.rows == 3


def expected(value: bytes) -> dict[str, Any] | None:
    """As the spec of its time declared it."""
    kinds = (decode(value, schema) for schema in (NARROW, WIDE))
    return next((each for each in kinds if isinstance(each, dict)), None)


def by_offset(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: row["_offset"])
