"""The image and docker-compose.yml on a Docker engine: flights land while containers are killed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from local.demo.flights import Record, produce, records
from local.embedded.airflow_client import AirflowClient
from local.embedded.waiting import until
from tests.containers.worlds.containers import Containers, build_image
from tests.production.worlds.flights import SCHEDULERS, assert_landed, expecting_flights
from tests.worlds.deployment import RUN_SECONDS

pytestmark = [pytest.mark.integration, pytest.mark.airflow]


@pytest.fixture(scope="module")
def flights() -> list[Record]:
    return records()[:40_000]


@pytest.fixture(scope="module")
def image() -> None:
    build_image()


@pytest.fixture(scope="module", params=["volume", "bucket"])
def stack(
    request: pytest.FixtureRequest, image: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Containers]:
    folder = tmp_path_factory.mktemp("containers")
    with Containers(folder, bucket=request.param == "bucket") as running:
        yield running


@pytest.fixture(scope="module")
def client(stack: Containers) -> Iterator[AirflowClient]:
    with expecting_flights(stack.client(), stack.bootstrap) as client:
        yield client


def test_a_worker_killed_under_the_first_run_costs_no_record(
    stack: Containers, client: AirflowClient, flights: list[Record]
) -> None:
    produce(stack.bootstrap, flights[:20_000])
    client.unpause("flights")
    run = until(lambda: client.runs("flights"), "a scheduled run", RUN_SECONDS)[0]
    client.wait_for_task(run, "ingest", "running", RUN_SECONDS)
    stack.kill("spark-worker-1")
    assert client.wait_for_run(run, RUN_SECONDS).state == "success", client.tasks(run)
    assert_landed(stack.bootstrap, stack.tables(), 20_000)
    stack.start("spark-worker-1")


def test_a_master_and_workers_started_again_serve_the_same_connect_server(
    stack: Containers, client: AirflowClient, flights: list[Record]
) -> None:
    produce(stack.bootstrap, flights[20_000:30_000])
    for name in ("spark-master", "spark-worker-1", "spark-worker-2"):
        stack.kill(name)
        stack.start(name)
    run = client.trigger("flights")
    assert client.wait_for_run(run, RUN_SECONDS).state == "success", client.tasks(run)
    assert_landed(stack.bootstrap, stack.tables(), 30_000)


def test_schedulers_killed_in_mid_run_are_made_good(
    stack: Containers, client: AirflowClient, flights: list[Record]
) -> None:
    """One after the other, so that the one whose task it is dies as well."""
    produce(stack.bootstrap, flights[30_000:])
    run = client.trigger("flights")
    client.wait_for_task(run, "ingest", "running", RUN_SECONDS)
    for name in SCHEDULERS:
        stack.kill(name)
        stack.start(name)
    assert client.wait_for_run(run, RUN_SECONDS).state == "success", client.tasks(run)
    assert_landed(stack.bootstrap, stack.tables(), 40_000)


def test_the_command_line_is_in_the_image_and_proves_the_tables(
    stack: Containers, client: AirflowClient
) -> None:
    version = stack.run("airflow-scheduler-1", "sluice", "--version")
    assert version.strip() == "sluice, version 0.1.0"
    told = stack.run("airflow-scheduler-1", "sluice", "verify", "flights")
    assert "40,000 rows" in told
    assert "complete" in told
