"""Same rows on Spark: values that differ in the last of their digits differ, in maps too."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from sluice.columns.columns import Column, Map, Primitive
from sluice.lake.state.same_rows import same_values

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_NTZ"])
@pytest.mark.parametrize(("other", "same"), [("56", True), ("57", False)])
def test_moments_in_a_map_are_compared_to_the_microsecond(
    spark: SparkSession, kind: str, other: str, same: bool
) -> None:
    column = Column("m", Map(Primitive(kind)))
    moments = (f"{kind} '2026-11-30 04:00:00.1234{each}'" for each in ("56", other))
    maps = (f"struct(map('a', {each}) AS m)" for each in moments)
    one, two = maps
    rows = spark.sql(f"SELECT {one} AS one, {two} AS two")
    assert rows.selectExpr(same_values("one", "two", [column])).first() == (same,)
