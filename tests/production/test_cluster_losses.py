"""A cluster that fails under a run: bounded, named, and the next run lands the same batch."""

from __future__ import annotations

import json
import signal
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil
import pytest

from local.embedded.waiting import until
from tests.oracle import no_secret
from tests.production.worlds.watched_cluster import WatchedCluster
from tests.worlds.pipelines import Installed, more
from tests.worlds.processes import Run

pytestmark = [pytest.mark.integration, pytest.mark.spark]

LIMIT = "spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout"
FEW_SECONDS = {LIMIT: "5s"}
UNREAD = 20
MANY = 50_000  # Takes a second to write.
RAISED = {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": "reading: raise"}
FROZEN = {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": "reading: freeze"}


def unread(made: Installed) -> Installed:
    """The pipeline, with ten unread records in each of its partitions."""
    more(made, 10)
    more(made, 10, 10, partition=1)
    return made


def frozen_before_it_reads(trips: Installed, cluster: WatchedCluster, **env: str) -> Run:
    """A run that is stopped before its job; its executors are up."""
    run = trips.start("run", **FROZEN, **env)
    run.says("failpoint reading: freeze")
    until(lambda: len(cluster.executors()) == 2, "two executors")
    return run


def goes_on(run: Run) -> None:
    run.process.send_signal(signal.SIGCONT)


def refused(
    trips: Installed, *texts: str, run: Run | None = None, env: Mapping[str, str] | None = None
) -> None:
    """The run fails with these words, and the batch stays planned."""
    done = (run or trips.start("run", **(env or {}))).end()
    assert done.returncode == 1, done.stderr
    assert [each for each in texts if each not in done.stderr] == [], done.stderr
    assert (trips.rows(), list(trips.ranges())) == ([], ["forward-1-1"])


def lands_the_same_batch(trips: Installed) -> None:
    planned = trips.ranges()
    done = trips.process("run")
    assert done.returncode == 0, done.stderr
    assert trips.ranges() == planned
    assert trips.judge().facts.rows == UNREAD


def test_a_worker_without_the_jars_is_named(on_cluster: Callable[..., Installed]) -> None:
    trips = unread(on_cluster(**{"spark.executor.extraClassPath": "/nowhere"}))
    refused(trips, "executor ", " on 127.0.0.1: expected the class org.apache.spark.sql.", "jars")
    trips.write_spec(spark={"spark.executor.memory": "512m"})
    lands_the_same_batch(trips)


def test_a_cluster_without_free_resources_ends_the_run_in_time(
    on_cluster: Callable[..., Installed], cluster: WatchedCluster
) -> None:
    trips = unread(on_cluster(**FEW_SECONDS, **{"spark.executor.memory": "64g"}))
    refused(trips, f"expected an executor of {cluster.url} to run a task within 5 s", LIMIT)
    trips.write_spec(spark={"spark.executor.memory": "512m"})
    lands_the_same_batch(trips)


def test_a_run_that_loses_all_workers_ends_in_time(
    on_cluster: Callable[..., Installed], cluster: WatchedCluster
) -> None:
    trips = unread(on_cluster(**FEW_SECONDS))
    run = frozen_before_it_reads(trips, cluster)
    for each in cluster.workers:
        each.kill()
    goes_on(run)
    refused(trips, f"expected an executor of {cluster.url}", "found 0 executors", run=run)
    cluster.start()
    lands_the_same_batch(trips)


def test_a_worker_killed_in_mid_write_leaves_its_tasks_to_the_other(
    on_cluster: Callable[..., Installed], cluster: WatchedCluster
) -> None:
    """Both executors write; one stands still in the middle of it, and never goes on."""
    trips = on_cluster()
    more(trips, MANY)
    more(trips, MANY, MANY, partition=1)
    secret = f"canary-{uuid.uuid4().hex}"
    kafka = {"bootstrap.servers": trips.bootstrap, "ssl.key.password": secret}
    connection = json.dumps({"conn_type": "kafka", "extra": kafka})
    run = frozen_before_it_reads(trips, cluster, AIRFLOW_CONN_KAFKA_DEFAULT=connection)
    nobody_is_told(secret, cluster.executors())
    goes_on(run)
    until(lambda: len(list(trips.data.glob("*.parquet"))) == 2, "a file of each", pause=0.01)
    victim = cluster.workers[0]
    for each in cluster.executors_of(victim):
        each.suspend()
    assert trips.version() == 0
    victim.kill()
    done = run.end()
    assert done.returncode == 0, done.stderr
    assert trips.judge().facts.rows == 2 * MANY
    no_secret(secret, cluster.folder)


def nobody_is_told(secret: str, executors: list[psutil.Process]) -> None:
    """No executor has the secret in its arguments or environment."""
    for each in executors:
        for told in ("cmdline", "environ"):
            assert secret.encode() not in Path(f"/proc/{each.pid}/{told}").read_bytes()


def test_a_worker_whose_files_the_driver_does_not_see_lands_nothing(
    on_cluster: Callable[..., Installed], cluster: WatchedCluster
) -> None:
    """It has a copy of the warehouse: all that it reads is there, and what it writes is lost."""
    trips = unread(on_cluster())
    # The table is created before the worker takes its copy.
    refused(trips, "a failpoint raised this", env=RAISED)
    for each in cluster.workers:
        each.kill()
    cluster.workers.clear()
    cluster.add_worker_apart(trips.warehouse)
    cluster.start(workers=1)
    refused(trips, "which a worker has written, found no such file here: a worker does not see")
    cluster.stop()
    cluster.start()
    lands_the_same_batch(trips)


def test_a_log_store_that_would_not_see_that_is_refused_on_a_cluster(
    on_cluster: Callable[..., Installed],
) -> None:
    trips = unread(
        on_cluster(**{"spark.delta.logStore.file.impl": "io.delta.storage.HDFSLogStore"})
    )
    refused(
        trips, "expected spark.delta.logStore.file.impl=sluice.LinkLogStore on the cluster spark:"
    )
    trips.write_spec(spark={"spark.executor.memory": "512m"})
    lands_the_same_batch(trips)


def test_a_master_that_dies_leaves_a_run_alone_and_is_named_by_the_next(
    on_cluster: Callable[..., Installed], cluster: WatchedCluster
) -> None:
    trips = unread(on_cluster())
    run = frozen_before_it_reads(trips, cluster)
    assert cluster.master is not None
    cluster.master.kill()
    goes_on(run)
    done = run.end()
    assert done.returncode == 0, done.stderr
    assert trips.judge().facts.rows == UNREAD
    more(trips, 5, 20)
    done = trips.process("run")
    assert done.returncode == 1, done.stderr
    assert f"Spark did not start on {cluster.url}: " in done.stderr
    cluster.start()
    done = trips.process("run")
    assert done.returncode == 0, done.stderr
    assert trips.judge().facts.rows == UNREAD + 5
