"""Doubles under a real Airflow: whatever it runs twice or side by side, each batch lands once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import repeat
from pathlib import Path
from typing import Any

import psutil
import pytest
from sluice.offsets.batches import BatchReference

from local.embedded.airflow_client import AirflowApiError, DagRun
from local.embedded.waiting import until
from tests.worlds.deployment import KEEPING_ALL, RUN_SECONDS, Deployment, deployed
from tests.worlds.postgres import Postgres
from tests.worlds.processes import JAVA_TUNING

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

PARTITIONS = 8
ROUNDS = 20
SETTINGS = {
    "scheduler": {
        "task_instance_heartbeat_timeout": "20",
        "task_instance_heartbeat_timeout_detection_interval": "2",
    },
    "workers": {"min_heartbeat_interval": "3"},
}
SPECS: dict[str, dict[str, object]] = {
    "trips": {},
    "pairs": {},
    "years": {"schedule": "0 0 1 1 *"},
}
IN_2021 = int(datetime(2021, 6, 1, tzinfo=UTC).timestamp() * 1000)
# Cluster policies: retries come soon; runs of `pairs` really are side by side; a time limit for
# ingest, as long as a file says so.
POLICIES = """
from datetime import timedelta
from pathlib import Path

def dag_policy(dag):
    if dag.dag_id == "pairs":
        dag.max_active_runs = 4

def task_policy(task):
    task.retry_delay, task.retry_exponential_backoff = timedelta(seconds=2), 0
    limit = Path(__file__).with_name("limit")
    if task.task_id == "ingest" and limit.exists():
        task.execution_timeout = timedelta(seconds=int(limit.read_text()))
"""

Deployments = dict[str, Deployment]


@pytest.fixture(scope="module")
def deployments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployments]:
    folder = tmp_path_factory.mktemp("airflow")
    tuned = {"policies": POLICIES, "environment": JAVA_TUNING}
    shape: dict[str, Any] = {"partitions": PARTITIONS, "topic": KEEPING_ALL, **tuned}
    with (
        Postgres() as postgres,
        deployed(folder, SPECS, settings=SETTINGS | postgres.settings, **shape) as made,
    ):
        made["trips"].unpause()
        made["pairs"].unpause()
        yield made


def frozen_in_its_write(trips: Deployment) -> tuple[DagRun, psutil.Process, psutil.Process]:
    """A run whose JVM is frozen: files of its batch are there, the commit is not."""
    trips.produce(PARTITIONS * 10_000)
    before, landed = trips.files(), trips.commits()
    run = trips.trigger()
    jvm, driver = until(trips.spark, "Spark", RUN_SECONDS)
    until(lambda: trips.files() - before, "Spark writes", RUN_SECONDS, 0.001)
    jvm.suspend()
    assert 0 < len(trips.files() - before) < PARTITIONS
    assert trips.commits() == landed
    return run, jvm, driver


def lands_once(trips: Deployment, landed: list[Path]) -> None:
    """One more commit than before, and all is exact."""
    assert len(trips.commits()) == len(landed) + 1
    trips.assert_exact()


def test_a_killed_supervisor_takes_even_a_frozen_spark_along(deployments: Deployments) -> None:
    """Airflow notices by the missing heartbeat, and retries with no hand."""
    trips = deployments["trips"]
    landed = trips.commits()
    run, jvm, driver = frozen_in_its_write(trips)
    runner = jvm.parent()
    assert runner is not None
    runner.parent().kill()
    assert not psutil.wait_procs([jvm, driver, runner], timeout=60)[1]
    assert trips.commits() == landed
    trips.succeeds(run)
    assert trips.client.tasks(run)["ingest"].try_number == 2
    lands_once(trips, landed)


def test_a_jvm_that_outlives_its_killed_supervisor_is_superseded(deployments: Deployments) -> None:
    """With the supervisor dead and the task itself frozen nobody ends Spark, as on a stalled host.

    It goes on after the retry has won, tries its commit, and says that another attempt was first.
    """
    trips = deployments["trips"]
    landed = trips.commits()
    run, jvm, driver = frozen_in_its_write(trips)
    runner = jvm.parent()
    assert runner is not None
    runner.suspend()
    runner.parent().kill()
    trips.succeeds(run)
    assert trips.client.tasks(run)["ingest"].try_number == 2
    assert {jvm.status(), runner.status()} == {psutil.STATUS_STOPPED}
    says = os.open(f"/proc/{jvm.pid}/fd/1", os.O_RDONLY | os.O_NONBLOCK)
    jvm.resume()
    told = until_end(says)
    assert "superseded by version" in told, told
    runner.resume()
    assert not psutil.wait_procs([jvm, driver, runner], timeout=60)[1]
    assert trips.client.run(run).state == "success"
    lands_once(trips, landed)


def until_end(pipe: int, seconds: float = 120) -> str:
    """What is said until the last writer is gone; the pipe's own reader is frozen."""
    said, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            piece = os.read(pipe, 65_536)
        except BlockingIOError:
            time.sleep(0.1)
            continue
        if not piece:
            os.close(pipe)
            return said.decode()
        said += piece
    raise AssertionError(f"not over after {seconds:.0f} s: {said.decode()}")


def test_a_spark_that_hangs_is_ended_by_the_time_limit(deployments: Deployments) -> None:
    """`execution_timeout` ends a frozen JVM, and the retry is exact."""
    trips = deployments["trips"]
    landed = trips.commits()
    limit = trips.airflow.folder / "config" / "limit"
    limit.write_text("25")
    trips.produce(1_000)
    run = trips.trigger()
    spark = until(trips.spark, "Spark", RUN_SECONDS)
    spark[0].suspend()
    limit.unlink()
    assert not psutil.wait_procs(spark, timeout=60)[1]
    trips.succeeds(run)
    assert trips.client.tasks(run)["ingest"].try_number > 1
    assert "AirflowTaskTimeout" in trips.client.log(run, "ingest", 1)
    lands_once(trips, landed)


def test_two_triggers_in_the_same_second_twenty_times(deployments: Deployments) -> None:
    """The cluster allows four runs at a time here (the DAG itself: one), so that plans race.

    A last pair asks for the same logical date: Airflow makes one run and refuses the other.
    """
    pairs = deployments["pairs"]
    with ThreadPoolExecutor(2) as pool:
        for _ in range(ROUNDS):
            pairs.produce(10)
            for fired in [pool.submit(pairs.trigger) for _ in range(2)]:
                fired.result()
            time.sleep(1)
        asked = [pool.submit(trigger_at, pairs, "2026-01-01T00:00:00Z") for _ in range(2)]
    refused = [error for each in asked if (error := each.exception())]
    assert len(refused) == 1
    with pytest.raises(AirflowApiError, match="409"):
        raise refused[0]
    runs = until(pairs.all_runs, "the end of all runs", 400, 1)
    assert [run.state for run in runs] == ["success"] * (2 * ROUNDS + 1)
    facts = pairs.assert_exact().facts
    assert facts.planned == facts.committed == len(pairs.commits()) == len(pairs.announced())


def trigger_at(pairs: Deployment, date: str) -> Any:
    body = {"logical_date": date}
    return pairs.client.request("POST", f"/dags/{pairs.pipeline}/dagRuns", json=body)


def test_a_backfill_beside_another_run_in_both_orders(deployments: Deployments) -> None:
    """Backfill runs are not bounded by `max_active_runs`; they have a lane of their own.

    The Spark of the run that was first is frozen until the other has planned, beside it. Each
    batch is committed once, and all runs end well.
    """
    years = deployments["years"]
    years.produce(1_000, repeat(IN_2021))
    years.unpause()
    years.succeeds(until(lambda: years.client.runs("years"), "a scheduled run")[0])
    years.produce(1_000)
    years.trigger()
    with years.frozen_spark("manual"):
        years.client.backfill("years", "2021-01-01T00:00:00Z", "2021-01-01T00:00:00Z")
        beside = {"manual": ("forward", [2]), "backfill": ("backfill", [1])}
        assert planned_side_by_side(years) == beside
    with years.frozen_spark("backfill"):
        years.produce(1_000)
        years.trigger()
        assert planned_side_by_side(years) == beside | {"manual": ("forward", [3])}
    ended = until(years.all_runs, "the end of all runs", RUN_SECONDS, 1)
    assert [run.state for run in ended] == ["success"] * 4
    batches = ["forward-1-1", "forward-1-2", "backfill-1-1", "forward-1-3"]
    assert years.announced() == batches
    assert len(years.commits()) == len(batches)
    years.assert_exact()


def planned_side_by_side(deployment: Deployment) -> dict[str, tuple[str, list[int]]]:
    """Kind of run → lane and batches that it has planned, once two unfinished runs have."""

    def look() -> list[DagRun]:
        runs = deployment.client.runs(deployment.pipeline)
        ready = [run for run in runs if not run.finished]
        ready = [run for run in ready if deployment.states(run).get("plan") == "success"]
        return ready if len(ready) == 2 else []

    runs = until(look, "two runs that have planned", RUN_SECONDS, 1)
    works = {run.run_id.split("__")[0]: deployment.work(run) for run in runs}
    return {
        kind: (work["lane"], list(BatchReference.from_dict(work).batches))
        for kind, work in works.items()
    }
