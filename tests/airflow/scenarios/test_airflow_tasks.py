"""A real Airflow's tasks are ended in every way: Spark ends with them, and the table is exact."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from tests.airflow.scenarios.conftest import SPECS
from tests.worlds.deployment import RUN_SECONDS, Deployment
from tests.worlds.processes import until

pytestmark = [pytest.mark.integration, pytest.mark.airflow]


@pytest.fixture(scope="module")
def deployment(deployments: dict[str, Deployment]) -> Deployment:
    deployments["trips"].unpause()
    return deployments["trips"]


def test_mark_failed_ends_the_jvm_and_a_clear_goes_on_from_there(deployment: Deployment) -> None:
    deployment.produce(1_000)
    run = deployment.trigger()
    jvm, driver = until(deployment.spark, "Spark", RUN_SECONDS)
    deployment.client.set_state(run, "ingest", "failed")
    assert not psutil.wait_procs([jvm, driver], timeout=60)[1]
    # The scheduler may else mark the run as failed just after it was cleared.
    assert deployment.client.wait_for_run(run, RUN_SECONDS).state == "failed"
    deployment.client.clear(run, "ingest")
    assert deployment.client.wait_for_run(run, RUN_SECONDS).state == "success"
    deployment.assert_exact()


def test_a_task_that_is_killed_takes_spark_along(deployment: Deployment) -> None:
    deployment.produce(1_000)
    run = deployment.trigger()
    jvm, driver = until(deployment.spark, "Spark", RUN_SECONDS)
    os.kill(jvm.ppid(), signal.SIGKILL)
    assert not psutil.wait_procs([jvm, driver], timeout=60)[1]
    # No hand is needed: the next try comes by itself.
    assert deployment.client.wait_for_run(run, RUN_SECONDS).state == "success"
    deployment.assert_exact()


def test_maintenance_comes_by_its_schedule(deployment: Deployment) -> None:
    client, before = deployment.client, len(deployment.files())
    client.wait_for_dag("sluice_maintenance")
    client.unpause("sluice_maintenance")
    run = until(lambda: client.runs("sluice_maintenance"), "a scheduled run", RUN_SECONDS)[0]
    deployment.succeeds(run)
    assert deployment.states(run) == {f"maintain_{name}": "success" for name in SPECS}
    assert len(deployment.files()) > before > 1, "a compacted file; the old ones stay for readers"
    client.pause("sluice_maintenance")
    deployment.run()
    deployment.assert_exact()
