"""What registries have said, beside a table: Spark's VACUUM leaves it alone, as delta-rs' does."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import write_deltalake
from pyarrow import table
from pyspark.sql import SparkSession
from sluice.registry.kept_schemas import KeptSchemas
from sluice.schemas.registered import RegisteredSchema

pytestmark = pytest.mark.spark

SEVEN = RegisteredSchema("7", "AVRO", '"int"')


def test_a_vacuum_by_spark_leaves_it_alone(spark: SparkSession, tmp_path: Path) -> None:
    offsets = tmp_path / "orders__offsets"
    kept = KeptSchemas(str(offsets), "orders")
    kept.advance("registry", "orders-value", SEVEN)
    for number in range(2):
        write_deltalake(str(offsets), table({"a": [number]}), mode="overwrite")
    before = set(offsets.glob("*.parquet"))
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    try:
        spark.sql(f"VACUUM delta.`{offsets}` RETAIN 0 HOURS")
    finally:
        spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    assert len(before) == 2
    assert len(set(offsets.glob("*.parquet"))) == 1
    assert kept.reader("registry", "orders-value") == SEVEN
    assert kept.all("registry") == {"7": SEVEN}
