"""A real Airflow runs a pipeline, once through everything that it is asked for day by day.

The tests build on each other, in this order; `make test-airflow` has the rarer scenarios.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat

import psutil
import pytest

from local.embedded.airflow_client import AirflowApiError, DagRun
from tests.worlds.backfill_runs import (
    HOURLY,
    backfill,
    contents,
    hour,
    planned,
    position,
    run_of,
)
from tests.worlds.deployment import (
    KEEPING_ALL,
    RUN_SECONDS,
    SECRET,
    Deployment,
    deployed,
    write_spec,
)
from tests.worlds.processes import JAVA_TUNING, until

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

PIPELINE = "trips"


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A pipeline with an interval of each hour of a day long ago; it is paused."""
    folder, specs = tmp_path_factory.mktemp("airflow"), {PIPELINE: HOURLY}
    with deployed(folder, specs, topic=KEEPING_ALL, environment=JAVA_TUNING) as deployments:
        yield deployments[PIPELINE]


def test_a_run_lands_what_kafka_holds(deployment: Deployment) -> None:
    in_the_first_hour = repeat(int(hour(0).timestamp() * 1000), 8)
    deployment.produce(2_000, chain(in_the_first_hour, repeat(0)))
    deployment.unpause()
    run = deployment.first_run()
    assert deployment.states(run) == {"plan": "success", "ingest": "success", "settle": "success"}
    deployment.assert_exact()
    reference = deployment.client.request("GET", f"{run.path}/taskInstances/plan/xcomEntries")
    keys = {entry["key"] for entry in reference["xcom_entries"]}
    links = {"_link_PipelineLink", "_link_BatchLink"}
    assert keys == {"return_value", "sluice_summary", *links}
    assert deployment.work(run) == {
        "pipeline": PIPELINE,
        "lane": "forward",
        "generation": 1,
        "batches": "1..1",
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


def test_a_backfill_reads_an_interval_again_and_the_cursor_stays(deployment: Deployment) -> None:
    before, at = contents(deployment), position(deployment)
    backfill(deployment, 0, 0)
    run = deployment.succeeds(run_of(deployment, 0))
    assert planned(deployment, run) == {0: (0, 4), 1: (0, 4)}
    assert deployment.announced() == ["forward-1-1", "backfill-1-1"]
    assert (contents(deployment), position(deployment)) == (before, at)
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


def test_the_secret_of_the_connection_is_in_no_log_and_no_xcom(deployment: Deployment) -> None:
    home = deployment.airflow.folder
    told = [*home.glob("logs/**/*.log"), *home.glob("processes/*.log"), home / "airflow.db"]
    assert len(told) > 10
    assert [str(file) for file in told if SECRET.encode() in file.read_bytes()] == []
