"""Airflow on PostgreSQL with two schedulers: its database may fail, be lost, or go back in time.

Only Sluice's tables say what was read: whatever Airflow forgets, no record is read twice or missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from local.embedded.airflow_client import DagRun
from local.embedded.waiting import until
from tests.worlds.deployment import RUN_SECONDS, Deployment, deployed
from tests.worlds.postgres import Postgres
from tests.worlds.processes import JAVA_TUNING

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

# A scheduler, or a task, that is gone is noticed in seconds, not in minutes.
WATCHFUL = {
    "scheduler_heartbeat_sec": "1",
    "scheduler_health_check_threshold": "5",
    "orphaned_tasks_check_interval": "2",
    "task_instance_heartbeat_timeout": "15",
    "task_instance_heartbeat_timeout_detection_interval": "2",
    "scheduler_idle_sleep_time": "0.2",
}
POLICIES = """
from datetime import timedelta

def task_policy(task):
    task.retry_delay, task.retry_exponential_backoff = timedelta(seconds=2), 0
"""


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with Postgres() as running:
        yield running


@pytest.fixture(scope="module")
def deployment(
    postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    settings = {**postgres.settings, "scheduler": WATCHFUL}
    folder = tmp_path_factory.mktemp("airflow")
    tuned: dict[str, Any] = {"policies": POLICIES, "environment": JAVA_TUNING, "settings": settings}
    with deployed(folder, {"trips": {}}, schedulers=2, **tuned) as made:
        made["trips"].unpause()
        yield made["trips"]


def starting_spark(deployment: Deployment) -> tuple[DagRun, psutil.Process]:
    """A run whose batch is planned and whose Spark stands still, its batch not yet written."""
    run = deployment.trigger()
    jvm, _ = until(deployment.spark, "Spark", RUN_SECONDS)
    jvm.suspend()
    assert len(deployment.offsets("planned")) > len(deployment.offsets("committed"))
    return run, jvm


def assert_each_batch_landed_once(deployment: Deployment, batches: int) -> None:
    """So many batches, one commit each, and the oracle finds each record once."""
    committed = {row["batch"] for row in deployment.offsets("committed")}
    planned = {row["batch"] for row in deployment.offsets("planned")}
    assert committed == planned == {f"forward-1-{number}" for number in range(1, batches + 1)}
    assert len(deployment.commits()) == batches
    deployment.assert_exact()


def test_a_scheduler_that_is_killed_in_mid_run_is_replaced_by_the_other(
    deployment: Deployment,
) -> None:
    deployment.produce(1_000)
    run, jvm = starting_spark(deployment)
    (busy,) = [one for one in deployment.airflow.schedulers if jvm in one.family()]
    busy.kill()
    assert not jvm.is_running(), "Spark ended with its scheduler"
    deployment.succeeds(run)
    assert_each_batch_landed_once(deployment, 1)


def test_a_database_that_fails_over_under_a_running_task_costs_no_record(
    deployment: Deployment, postgres: Postgres
) -> None:
    deployment.produce(1_000)
    run, jvm = starting_spark(deployment)
    postgres.crash()
    until(lambda: deployment.client.health().get("metadatabase") != "healthy", "the failure seen")
    jvm.resume()
    postgres.start()
    deployment.succeeds(run)
    assert_each_batch_landed_once(deployment, 2)


def test_a_database_restored_from_an_older_dump_repeats_no_batch(
    deployment: Deployment, postgres: Postgres, tmp_path: Path
) -> None:
    deployment.produce(1_000)
    known, jvm = starting_spark(deployment)
    # In the dump this run is going on for ever; the one after it never was.
    postgres.dump(tmp_path / "dump")
    jvm.resume()
    deployment.succeeds(known)
    deployment.produce(1_000)
    forgotten = deployment.run()
    deployment.airflow.stop()
    postgres.restore(tmp_path / "dump")
    deployment.airflow.start()
    runs = deployment.client.runs(deployment.pipeline)
    assert known.run_id in {run.run_id for run in runs}
    assert forgotten.run_id not in {run.run_id for run in runs}
    deployment.succeeds(known)
    assert_each_batch_landed_once(deployment, 4)


def test_a_database_that_is_lost_in_mid_run_and_created_anew_repeats_no_batch(
    deployment: Deployment, postgres: Postgres
) -> None:
    deployment.produce(1_000)
    starting_spark(deployment)
    deployment.airflow.stop()
    postgres.lose()
    deployment.airflow.start()
    deployment.client.wait_for_dag(deployment.pipeline)
    assert deployment.client.runs(deployment.pipeline) == []
    deployment.unpause()
    deployment.run()
    assert_each_batch_landed_once(deployment, 5)
