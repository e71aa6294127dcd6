"""A standalone cluster, named by the connection alone: batches land there, without Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from local.embedded.spark_server import SparkServer
from tests.production.worlds.watched_cluster import WatchedCluster
from tests.worlds.pipelines import Installed, more
from tests.worlds.processes import JAVA_TUNING
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

MALFORMED = [b'{"id": 40}', b"broken", *[b'{"id": 41}'] * 8]


def lands(trips: Installed, *command: str) -> None:
    done = trips.process(*(command or ("run",)))
    assert done.returncode == 0, done.stderr


def test_batches_land_on_the_cluster_and_are_replaced_and_verified(
    on_cluster: Callable[..., Installed], cluster: WatchedCluster
) -> None:
    """Plain ones, and one with a malformed record; no worker calls Python."""
    trips = on_cluster()
    more(trips, 20)
    more(trips, 20, 20, partition=1)
    lands(trips)
    produce(trips.bootstrap, trips.topics[0], MALFORMED)
    lands(trips)
    lands(trips, "reprocess", "--batch", "forward-1-1")
    lands(trips, "verify")
    assert {row["_batch"] for row in trips.rows()} == {"backfill-1-1", "forward-1-2"}
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (49, 1)
    assert len(cluster.applications()) == 3
    assert cluster.python_calls == []


def test_a_spark_connect_server_of_the_cluster_lands_batches_on_its_workers(
    on_cluster: Callable[..., Installed], cluster: WatchedCluster, tmp_path: Path
) -> None:
    settings = {"spark.master": cluster.url, "spark.executor.memory": "512m"}
    trips = on_cluster()
    trips.write_spec(spark={})
    more(trips, 20)
    with SparkServer(tmp_path / "server", settings=settings, environment=JAVA_TUNING) as server:
        trips.given["AIRFLOW_CONN_SPARK_DEFAULT"] = server.connection
        lands(trips)
        produce(trips.bootstrap, trips.topics[0], MALFORMED)
        lands(trips)
        assert len(cluster.executors()) == 2
        server.kill()
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (29, 1)
    assert cluster.python_calls == []
