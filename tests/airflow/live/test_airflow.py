"""A real Airflow runs a pipeline; `make test-airflow` has what it is asked for more rarely.

The tests build on each other, in this order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from tests.worlds.backfill_runs import HOURLY, hour
from tests.worlds.deployment import KEEPING_ALL, SECRET, Deployment, deployed
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


def test_the_secret_of_the_connection_is_in_no_log_and_no_xcom(deployment: Deployment) -> None:
    home = deployment.airflow.folder
    told = [*home.glob("logs/**/*.log"), *home.glob("processes/*.log"), home / "airflow.db"]
    assert len(told) > 8
    assert [str(file) for file in told if SECRET.encode() in file.read_bytes()] == []
