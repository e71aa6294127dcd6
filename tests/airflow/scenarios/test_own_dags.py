"""A folder of DAGs of a team: two lines for all pipelines, and one amid other tasks."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote

import httpx
import psutil
import pytest

from local.embedded.airflow_client import DagRun
from local.embedded.topics import create_topic
from local.embedded.waiting import until
from tests.worlds.deployment import RUN_SECONDS, Deployment, deployed, write_spec
from tests.worlds.documented import section
from tests.worlds.processes import JAVA_TUNING

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

TWO_LINES = """
from sluice.airflow import pipeline_dags
globals().update(pipeline_dags("../pipelines", without=["orders"]))
"""
OWN = """
from airflow.sdk import DAG, task
from sluice.airflow import PipelineTasks

with DAG("{dag_id}", params={{"dry_run": "of the team"}}):

    @task
    def before(): ...

    @task
    def report(): ...

    @task(trigger_rule="none_failed")
    def always(): ...

    before() >> PipelineTasks("orders", specs="../pipelines") >> [report(), always()]
"""
DAILY, HOURLY, REPORT = "orders_daily", "orders_hourly", "orders_report"
GROUP = [f"orders.{step}" for step in ("plan", "ingest", "settle")]
ALL = ["before", *GROUP, "report", "always"]
# Assets without DAG go soon.
QUICK = {"parsing_cleanup_interval": "5"}


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """The pipeline with a DAG of its own, in an Airflow whose folder of DAGs is the team's."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "dags").mkdir()
    (folder / "dags" / "sluice_dags.py").write_text(TWO_LINES)
    settings = {"core": {"dags_folder": str(folder / "dags")}, "scheduler": QUICK}
    with deployed(folder, {"trips": {}}, settings=settings, environment=JAVA_TUNING) as made:
        yield made["trips"]


@pytest.fixture(scope="module")
def orders(trips: Deployment) -> Deployment:
    """The pipeline whose tasks are in the team's DAG."""
    folder = trips.specs.parent
    assert create_topic(trips.broker.bootstrap, "orders", 2, {})
    write_dag(folder, DAILY)
    errors = until(trips.client.import_errors, "the import error", 60)
    for part in (str(trips.specs), "a spec of a pipeline 'orders'", "found pipelines: trips"):
        assert part in errors[f"{DAILY}.py"]
    write_spec(trips.specs / "orders.yaml", "orders")
    trips.client.wait_for_dag(DAILY)
    trips.client.unpause(DAILY)
    return Deployment(trips.airflow, trips.broker, folder, "orders", 2)


def write_dag(folder: Path, dag_id: str) -> Path:
    file = folder / "dags" / f"{dag_id}.py"
    file.write_text(OWN.format(dag_id=dag_id))
    return file


def ended(orders: Deployment, run: DagRun) -> dict[str, str | None]:
    """The states of the run's tasks, once it has succeeded."""
    orders.succeeds(run)
    return orders.states(run)


def test_two_lines_give_a_dag_for_each_pipeline(trips: Deployment) -> None:
    found = {dag for dag in trips.client.dag_ids() if not dag.startswith("orders")}
    assert found == {"trips", "sluice_reset", "sluice_maintenance", "sluice_watch"}
    trips.produce(100)
    trips.unpause()
    trips.run()
    trips.assert_exact()


def test_a_pipeline_runs_between_the_tasks_of_another_dag(orders: Deployment) -> None:
    orders.produce(100)
    run = orders.client.trigger(DAILY)
    assert ended(orders, run) == dict.fromkeys(ALL, "success")
    assert "orders" not in orders.client.dag_ids()
    note = orders.client.request("GET", run.path)["note"]
    assert [line.partition(":")[0].removeprefix("- ") for line in note.splitlines()] == GROUP
    links = orders.client.request("GET", f"{run.path}/taskInstances/orders.settle/links")
    assert links["extra_links"]["Batch"].endswith("/sluice/pipelines/orders/batches/forward-1-1")
    assert links["extra_links"]["Pipeline in Kafka offsets"].endswith("/sluice/pipelines/orders")
    (event,) = orders.client.request("GET", "/assets/events", params={"source_dag_id": DAILY})[
        "asset_events"
    ]
    assert (event["name"], event["uri"]) == ("sluice/orders", orders.data.as_uri())
    complete = datetime.fromisoformat(event["extra"]["complete_until"])
    assert f"complete until {complete:%Y-%m-%d %H:%M}" in note
    orders.assert_exact()


@pytest.mark.parametrize("name", ["orders", DAILY])
def test_the_page_leads_from_the_pipeline_and_its_dag_to_the_run(
    orders: Deployment, name: str
) -> None:
    login = orders.airflow.login
    given = {"username": login.username, "password": login.password}
    token = httpx.post(f"{login.url}/auth/token", json=given, trust_env=False).json()
    headers = {"Authorization": f"Bearer {token['access_token']}"}
    (run,) = orders.client.runs(DAILY)

    def shown() -> bool:
        address = f"{login.url}/sluice/pipelines/{name}"
        reply = httpx.get(address, headers=headers, trust_env=False, timeout=30)
        return "forward-1-1" in reply.text and f"/dags/{DAILY}/runs/{run.run_id}" in unquote(
            reply.text
        )

    until(shown, "the page with the run", 60)


def test_what_is_behind_the_group_is_skipped_when_nothing_is_new(orders: Deployment) -> None:
    states = ended(orders, orders.client.trigger(DAILY))
    skipped = {task for task, state in states.items() if state == "skipped"}
    assert skipped == {"orders.ingest", "orders.settle", "report"}
    assert states["always"] == "success"


def test_a_task_that_is_killed_takes_spark_along_and_is_tried_again(orders: Deployment) -> None:
    orders.produce(1_000)
    run = orders.client.trigger(DAILY)
    jvm, driver = until(orders.spark, "Spark", RUN_SECONDS)
    os.kill(jvm.ppid(), signal.SIGKILL)
    assert not psutil.wait_procs([jvm, driver], timeout=60)[1]
    assert ended(orders, run) == dict.fromkeys(ALL, "success")
    orders.assert_exact()


def test_a_report_waits_until_the_table_is_complete(orders: Deployment) -> None:
    """As docs/airflow.md has it; it looks more often.

    Below ten seconds, Airflow (3.3.2) may fail the task: it is queued again before its end is read.
    """
    (report,) = re.findall(
        r"^```python\n(.*?)^```$",
        section("airflow.md", "## Wait until a table is complete"),
        re.MULTILINE | re.DOTALL,
    )
    quick = report.replace('specs="pipelines"', 'specs="../pipelines", poke_interval=10')
    (orders.specs.parent / "dags" / "orders_report.py").write_text(quick)
    orders.client.wait_for_dag(REPORT)
    orders.produce(10)
    orders.client.unpause(REPORT)
    run = orders.client.trigger(REPORT)
    waiting = {"wait_until_complete": "up_for_reschedule", "report": None}
    until(lambda: orders.states(run) == waiting, "a look that finds unread records", 90)
    assert ended(orders, orders.client.trigger(DAILY)) == dict.fromkeys(ALL, "success")
    assert ended(orders, run) == dict.fromkeys(waiting, "success")
    # Nothing new has come since.
    assert ended(orders, orders.client.trigger(REPORT)) == dict.fromkeys(waiting, "success")


def test_two_dags_with_the_same_pipeline_at_once_land_it_once(orders: Deployment) -> None:
    write_dag(orders.specs.parent, HOURLY)
    orders.client.wait_for_dag(HOURLY)
    orders.client.unpause(HOURLY)
    orders.produce(1_000)
    runs = [orders.client.trigger(each) for each in (DAILY, HOURLY)]
    for run in runs:
        states = ended(orders, run)
        assert states["orders.plan"] == "success"
    orders.assert_exact()


def test_the_asset_of_a_removed_pipeline_goes(trips: Deployment, orders: Deployment) -> None:
    """With its DAG file; or with its DAG, where the file has other DAGs."""
    for file in orders.specs.parent.glob("dags/orders_*.py"):
        file.unlink()
    until(lambda: assets(trips) == {"sluice/trips"}, "no asset of orders", 60)
    (trips.specs / "trips.yaml").unlink()
    until(lambda: "trips" not in trips.client.dag_ids(), "no DAG trips", 120)
    trips.client.request("DELETE", "/dags/trips")
    until(lambda: assets(trips) == set(), "no asset", 60)


def assets(deployment: Deployment) -> set[str]:
    found = deployment.client.request("GET", "/assets")["assets"]
    return {each["name"] for each in found}
