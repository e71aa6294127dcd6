"""docker-compose.yml, its commands run here: flights land while its parts are killed."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest
from deltalake import DeltaTable

from local.demo.flights import Record, produce, records
from local.embedded.airflow_client import AirflowClient
from local.embedded.waiting import until
from tests.production.worlds.flights import SCHEDULERS, assert_landed, expecting_flights
from tests.production.worlds.native_compose import NativeCompose
from tests.worlds.deployment import RUN_SECONDS

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

HALF, MORE, FLIGHTS = 25_000, 30_000, 50_000
TABLES_ON_BOTH = pytest.mark.parametrize("stack", ["volume", "bucket"], indirect=True)


@pytest.fixture(scope="module")
def flights() -> list[Record]:
    return records()[:FLIGHTS]


@pytest.fixture(scope="module")
def stack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NativeCompose]:
    bucket = request.param == "bucket"
    with NativeCompose(tmp_path_factory.mktemp("compose"), bucket=bucket) as running:
        yield running


@pytest.fixture(scope="module")
def client(stack: NativeCompose) -> Iterator[AirflowClient]:
    with expecting_flights(stack.client(), stack.bootstrap) as client:
        yield client


@TABLES_ON_BOTH
def test_a_worker_killed_in_mid_write_costs_no_record(
    stack: NativeCompose, client: AirflowClient, flights: list[Record]
) -> None:
    produce(stack.bootstrap, flights[:HALF])
    client.unpause("flights")
    run = until(lambda: client.runs("flights"), "a scheduled run", RUN_SECONDS)[0]
    table = stack.warehouse / "flights"
    until(lambda: list(table.rglob("*.parquet")), "a data file", RUN_SECONDS, pause=0.01)
    committed = DeltaTable(str(table)).file_uris() if DeltaTable.is_deltatable(str(table)) else []
    stack.guarded("spark-worker-1").kill()
    assert committed == [], "the worker was killed before the commit"
    assert client.wait_for_run(run, RUN_SECONDS).state == "success", client.tasks(run)
    assert_landed(stack.bootstrap, stack.warehouse, HALF)
    stack.restart("spark-worker-1")


@pytest.mark.parametrize("stack", ["volume"], indirect=True)
def test_a_master_and_workers_started_again_serve_the_same_connect_server(
    stack: NativeCompose, client: AirflowClient, flights: list[Record]
) -> None:
    """The master remembers its application, and gives it executors anew."""
    produce(stack.bootstrap, flights[HALF:MORE])
    for name in ("spark-master", "spark-worker-1", "spark-worker-2"):
        stack.guarded(name).kill()
        stack.restart(name)
    run = client.trigger("flights")
    assert client.wait_for_run(run, RUN_SECONDS).state == "success", client.tasks(run)
    assert_landed(stack.bootstrap, stack.warehouse, MORE)


@pytest.mark.parametrize("stack", ["bucket"], indirect=True)
def test_a_scheduler_killed_in_mid_run_is_replaced_by_the_other(
    stack: NativeCompose, client: AirflowClient, flights: list[Record]
) -> None:
    produce(stack.bootstrap, flights[HALF:])
    run = client.trigger("flights")
    client.wait_for_task(run, "ingest", "running", RUN_SECONDS)
    task = until(
        lambda: client.request("GET", f"{run.path}/taskInstances/ingest")["pid"], "the task"
    )
    above = {parent.pid for parent in psutil.Process(task).parents()}
    (busy,) = [name for name in SCHEDULERS if stack.guarded(name).process.pid in above]
    stack.guarded(busy).kill()
    assert client.wait_for_run(run, RUN_SECONDS).state == "success", client.tasks(run)
    assert_landed(stack.bootstrap, stack.warehouse, FLIGHTS)
