"""A real Airflow's tasks are ended in every way: Spark ends with them, and the table is exact."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from local.embedded.waiting import until
from tests.airflow.scenarios.conftest import SPECS
from tests.worlds.deployment import RUN_SECONDS, Deployment, write_spec

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


def test_a_jvm_that_is_killed_in_mid_write_does_no_harm(deployment: Deployment) -> None:
    deployment.produce(300_000)
    files = deployment.files()
    run = deployment.trigger()
    # A file of the batch is there, its commit is not: in the middle of the write.
    until(lambda: deployment.files() - files, "Spark writes", RUN_SECONDS, 0.01)
    for jvm in deployment.jvms():
        jvm.kill()
    deployment.client.wait_for_task(run, "ingest", "up_for_retry", 60)
    assert "The Spark job ended with signal 9" in deployment.client.log(run, "ingest")
    deployment.client.clear(run, "ingest")
    assert deployment.client.wait_for_run(run, RUN_SECONDS).state == "success"
    deployment.assert_exact()


def test_a_bad_spec_is_its_own_import_error_and_the_others_go_on(deployment: Deployment) -> None:
    """With it, at the same time: a run with nothing new is green and starts no JVM."""
    bad = deployment.specs / "weather.yaml"
    write_spec(bad, "weather", topics=["trips"], table="trips", tabel="weather")
    errors = until(deployment.client.import_errors, "the import error", 60)
    for part in (str(bad), "tabel", "unknown key", "allowed: version, pipeline, kafka"):
        assert part in errors["refused_specs.py"]

    seen: list[psutil.Process] = []
    run = deployment.client.wait_for_run(
        deployment.trigger(), RUN_SECONDS, lambda _: seen.extend(deployment.jvms())
    )
    assert deployment.states(run) == {"plan": "success", "ingest": "skipped", "settle": "skipped"}
    assert run.state == "success"
    assert not seen

    assert deployment.client.import_errors() == errors
    dag = deployment.client.request("GET", "/dags/trips")
    assert (dag["has_import_errors"], dag["is_stale"]) == (False, False)

    bad.unlink()
    until(lambda: not deployment.client.import_errors(), "the error is gone", 60)
    deployment.assert_exact()
