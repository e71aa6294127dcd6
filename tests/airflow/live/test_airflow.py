"""One real Airflow runs the pipeline; whatever is done to a task, the table is exact."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import psutil
import pytest

from local.embedded.airflow_client import AirflowApiError, DagRun
from tests.worlds.deployment import RUN_SECONDS, SECRET, Deployment, deployed, write_spec
from tests.worlds.pipelines import until

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

PIPELINE = "trips"


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with deployed(tmp_path_factory.mktemp("airflow"), {PIPELINE: {}}) as deployments:
        deployments[PIPELINE].unpause()
        yield deployments[PIPELINE]


def test_a_run_lands_what_kafka_holds(deployment: Deployment) -> None:
    deployment.produce(2_000)
    run = deployment.run()
    assert deployment.states(run) == {"plan": "success", "ingest": "success", "settle": "success"}
    deployment.assert_exact()
    reference = deployment.client.request("GET", f"{run.path}/taskInstances/plan/xcomEntries")
    assert [entry["key"] for entry in reference["xcom_entries"]] == ["return_value"]
    assert deployment.work(run) == {
        "pipeline": PIPELINE,
        "lane": "forward",
        "generation": 1,
        "batches": [1],
    }
    (event,) = deployment.client.request("GET", "/assets/events")["asset_events"]
    assert event["source_dag_id"] == event["extra"]["pipeline"] == PIPELINE
    assert len(event["extra"]["batches"]) == 1


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
    dag = deployment.client.request("GET", f"/dags/{PIPELINE}")
    assert (dag["has_import_errors"], dag["is_stale"]) == (False, False)

    bad.unlink()
    until(lambda: not deployment.client.import_errors(), "the error is gone", 60)
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


def test_a_reset_shows_first_and_then_does_exactly_that(deployment: Deployment) -> None:
    client, rewind = deployment.client, {"pipeline": PIPELINE, "target": "shift-by", "shift": -5}
    client.wait_for_dag("sluice_reset")
    client.unpause("sluice_reset")

    def reset(**more: object) -> DagRun:
        return client.wait_for_run(client.trigger("sluice_reset", rewind | more), RUN_SECONDS)

    looked = reset()
    assert deployment.states(looked) == {"preview": "success", "execute": "skipped"}
    assert "5 read again, 0 skipped; Kafka holds [0, " in client.log(looked, "preview")
    shown = deployment.handed_on(looked, "preview")
    assert shown.keys() == {"pipeline", "preview"}, "a reference, never offsets"
    with pytest.raises(AirflowApiError, match=r"422|400"):
        client.trigger("sluice_reset", rewind | {"shift": "five"})

    why = {"execute": True, "reason": "a mended schema"}
    refused = reset(**why, as_previewed="9-9-00000000")
    assert deployment.states(refused) == {"preview": "success", "execute": "failed"}
    assert "the plan changed since the preview" in client.log(refused, "execute")
    assert deployment.offsets("reset_intended") == []
    done = reset(**why, as_previewed=shown["preview"])
    assert deployment.states(done) == {"preview": "success", "execute": "success"}
    deployment.run()
    (row, *_) = deployment.offsets("reset_done")
    assert (row["actor"], row["reason"]) == ("airflow:admin", "a mended schema")
    assert row["run_id"] == done.run_id
    deployment.assert_exact()


def test_maintenance_comes_by_its_schedule(deployment: Deployment) -> None:
    client, before = deployment.client, len(deployment.files())
    client.wait_for_dag("sluice_maintenance")
    client.unpause("sluice_maintenance")
    run = until(lambda: client.runs("sluice_maintenance"), "a scheduled run", RUN_SECONDS)[0]
    deployment.succeeds(run)
    assert deployment.states(run) == {f"maintain_{PIPELINE}": "success"}
    assert len(deployment.files()) > before > 1, "a compacted file; the old ones stay for readers"
    client.pause("sluice_maintenance")
    deployment.run()
    deployment.assert_exact()


def test_the_secret_of_the_connection_is_in_no_log_and_no_xcom(deployment: Deployment) -> None:
    home = deployment.airflow.folder
    told = [*home.glob("logs/**/*.log"), *home.glob("processes/*.log"), home / "airflow.db"]
    assert len(told) > 10
    assert [str(file) for file in told if SECRET.encode() in file.read_bytes()] == []
