"""The production shape: real servers, as a team runs them, on this machine's loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.production.worlds.spark_cluster import SparkCluster, spark_cluster
from tests.worlds.pipelines import Installed

FORM = {"type": "json", "schema": "id BIGINT"}
SMALL = {"spark.executor.memory": "512m"}


@pytest.fixture(scope="module")
def cluster_of_the_file(
    nothing_left_behind: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkCluster]:
    with spark_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def cluster(cluster_of_the_file: SparkCluster) -> SparkCluster:
    """A standalone Spark cluster of two workers, whatever the tests before have done to it."""
    return cluster_of_the_file.start()


@pytest.fixture
def on_cluster(
    cluster: SparkCluster, topic: Callable[..., str], pipeline: Callable[..., Installed]
) -> Callable[..., Installed]:
    """`on_cluster(**spark)` makes a pipeline of two partitions, whose runs use the cluster."""

    def make(**spark: str) -> Installed:
        settings = {**SMALL, **spark}
        made = pipeline(topic(2), format=FORM, quarantine={"max_ratio": 0.2}, spark=settings)
        made.given["AIRFLOW_CONN_SPARK_DEFAULT"] = cluster.connection
        return made

    return make
