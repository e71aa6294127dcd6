"""A cluster that loses an executor while a compacted topic is read again: no row is lost."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from tests.production.worlds.watched_cluster import WatchedCluster
from tests.worlds.compaction import COMPACTED, compact
from tests.worlds.pipelines import Installed
from tests.worlds.records import numbered, send

pytestmark = [pytest.mark.integration, pytest.mark.spark]

TRIPS = 40
FROZEN = {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": "kept rows known: freeze"}


def test_rows_whose_records_are_gone_outlive_the_executor_that_has_read_them(
    cluster: WatchedCluster, topic: Callable[..., str], pipeline: Callable[..., Installed]
) -> None:
    """All is read again and no row to be kept; then the cleaner comes, and the executor dies."""
    small = {"spark.executor.memory": "512m", "spark.task.maxFailures": "1"}
    trips = pipeline(topic(**COMPACTED), format={"type": "raw"}, spark=small)
    trips.given["AIRFLOW_CONN_SPARK_DEFAULT"] = cluster.connection
    producer = Producer({"bootstrap.servers": trips.bootstrap, "log_level": 0})
    for number, value in enumerate(numbered(TRIPS)):
        send(producer, trips.topics[0], [value], key=b"key-%d" % (number % 10))
    lands(trips)
    lands(trips, "reset", "--to-earliest", "--execute", "--reason", "a test")
    run = trips.start("run", **FROZEN)
    run.says("failpoint kept rows known: freeze")
    compact(trips.bootstrap, trips.topics)
    for each in cluster.executors():
        each.kill()
    run.process.send_signal(signal.SIGCONT)
    done = run.end()
    assert (done.returncode, offsets(trips)) == (1, [*range(TRIPS)]), done.stderr
    lands(trips)
    assert offsets(trips) == [*range(TRIPS)]
    trips.judge()


def lands(trips: Installed, *command: str) -> None:
    done = trips.process(*(command or ("run",)))
    assert done.returncode == 0, done.stderr


def offsets(trips: Installed) -> list[int]:
    """Those of the first records, as rows."""
    return sorted(row["_offset"] for row in trips.rows() if row["_offset"] < TRIPS)
