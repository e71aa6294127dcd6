"""Spark commits by hard links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_a_table_on_a_path_is_committed_to_by_links(spark: SparkSession, tmp_path: Path) -> None:
    uri = str(tmp_path / "numbers")
    for _ in range(2):
        spark.range(3).write.format("delta").mode("append").save(uri)
    jvm: Any = spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, uri)
    store = log.store().getDelegate(log.logPath()).logStoreImpl()
    assert store.getClass().getName() == "sluice.LinkLogStore"
    left = sorted(each.name for each in (tmp_path / "numbers" / "_delta_log").glob("*json*"))
    assert left == [f"{version:020}.json" for version in range(2)]
