"""Spark commits by hard links; a session that would not is refused before it writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.worlds.pipelines import Pipelines, Topic, more

pytestmark = pytest.mark.spark

DELTAS_OWN = {"spark.delta.logStore.file.impl": "io.delta.storage.HDFSLogStore"}


def test_a_table_on_a_path_is_committed_to_by_links(spark: SparkSession, tmp_path: Path) -> None:
    uri = str(tmp_path / "numbers")
    for _ in range(2):
        spark.range(3).write.format("delta").mode("append").save(uri)
    log = spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, uri)
    store = log.store().getDelegate(log.logPath()).logStoreImpl()
    assert store.getClass().getName() == "sluice.LinkLogStore"
    left = sorted(each.name for each in (tmp_path / "numbers" / "_delta_log").glob("*json*"))
    assert left == [f"{version:020}.json" for version in range(2)]


@pytest.mark.integration
def test_a_spec_that_names_one_of_deltas_own_log_stores_is_refused(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), spark=DELTAS_OWN)
    more(trips, 10)
    refused = trips.process("run")
    assert refused.returncode == 1
    assert (
        "trips: spark: expected spark.delta.logStore.file.impl=sluice.LinkLogStore, found"
        " io.delta.storage.HDFSLogStore: a commit could overwrite another process's."
    ) in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not trips.data.exists()
