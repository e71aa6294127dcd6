"""A real Airflow runs a pipeline, once through everything that it is asked for day by day.

The tests build on each other, in this order; `make test-airflow` has the rarer scenarios.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from local.embedded.airflow_client import AirflowApiError, DagRun
from tests.worlds.backfill_runs import HOURLY, hour
from tests.worlds.deployment import (
    KEEPING_ALL,
    RUN_SECONDS,
    SECRET,
    Deployment,
    deployed,
)
from tests.worlds.processes import JAVA_TUNING

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
