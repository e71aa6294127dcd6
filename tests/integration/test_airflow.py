"""One real Airflow runs the pipeline; whatever is done to a task, the table is exact."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import psutil
import pytest
import yaml
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from deltalake import DeltaTable

from local.airflow_client import AirflowClient, DagRun
from local.airflow_processes import Airflow
from local.broker import Broker
from tests.oracle import assert_exact

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

PIPELINE = "trips"
SECRET = "7hXq-nobody-may-see-this"
SPEC = {
    "version": 1,
    "pipeline": PIPELINE,
    "topics": ["trips"],
    "table": "trips",
    "format": {"type": "raw"},
    "schedule": None,
    "owner": "tests",
    "description": "Trips of a test",
}
RUN_SECONDS = 240

Found = TypeVar("Found")


class Deployment:
    """An Airflow with one pipeline, and what a test does to it."""

    def __init__(self, airflow: Airflow, broker: Broker, folder: Path) -> None:
        self.airflow = airflow
        self.broker = broker
        self.warehouse = folder / "warehouse"
        self.specs = folder / "pipelines"
        self._produced = 0

    @property
    def client(self) -> AirflowClient:
        return self.airflow.client

    def produce(self, records: int) -> None:
        producer = Producer({"bootstrap.servers": self.broker.bootstrap, "linger.ms": 20})
        for number in range(self._produced, self._produced + records):
            value = json.dumps({"number": number, "note": "x" * 100})
            producer.produce("trips", value=value, key=str(number), partition=number % 2)
            producer.poll(0)
        assert producer.flush(60) == 0
        self._produced += records

    def trigger(self) -> DagRun:
        return self.client.trigger(PIPELINE)

    def run(self) -> DagRun:
        """Trigger a run, wait for its end, and require that it is green."""
        run = self.client.wait_for_run(self.trigger(), RUN_SECONDS)
        assert run.state == "success", self.client.tasks(run)
        return run

    def states(self, run: DagRun) -> dict[str, str | None]:
        return {name: task.state for name, task in self.client.tasks(run).items()}

    def jvms(self) -> list[psutil.Process]:
        """The Spark JVMs that run below Airflow."""
        return [process for process in self.airflow.family() if is_java(process)]

    def spark(self) -> tuple[psutil.Process, psutil.Process] | None:
        """The JVM and its Python driver, once both run (an earlier JVM only builds a command)."""
        drivers = [process for process in self.airflow.family() if is_driver(process)]
        return (drivers[0].parent(), drivers[0]) if drivers else None

    def rows(self) -> int:
        return DeltaTable(str(self.warehouse / "trips")).to_pyarrow_dataset().count_rows()

    def assert_exact(self) -> None:
        """The table holds each record once, says an oracle; and no JVM is left."""
        until(lambda: not self.jvms(), "no JVM left", 30)
        assert self.rows() == self._produced
        where = (self.broker.bootstrap, self.warehouse, PIPELINE, "trips", ["trips"])
        assert_exact(*where, fmt="raw", group=f"sluice-{PIPELINE}")


def is_java(process: psutil.Process) -> bool:
    try:
        return process.name() == "java"
    except psutil.NoSuchProcess:
        return False


def is_driver(process: psutil.Process) -> bool:
    try:
        names = any(argument.endswith("jobs/ingest.py") for argument in process.cmdline())
        return names and process.name().startswith("python")
    except psutil.NoSuchProcess:
        return False


def until(look: Callable[[], Found], what: str, seconds: float, pause: float = 0.1) -> Found:
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(pause)
    return found


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("airflow")
    (folder / "pipelines").mkdir()
    write_spec(folder / "pipelines" / "trips.yaml")
    with Broker(folder / "broker") as broker:
        create_topic(broker)
        airflow = Airflow(
            folder / "home",
            broker.bootstrap,
            warehouse=folder / "warehouse",
            pipelines=folder / "pipelines",
            environment={"AIRFLOW_CONN_KAFKA_DEFAULT": kafka_connection(broker)},
        )
        with airflow:
            airflow.client.wait_for_dag(PIPELINE)
            airflow.client.unpause(PIPELINE)
            yield Deployment(airflow, broker, folder)


def write_spec(path: Path, **keys: object) -> None:
    path.write_text(yaml.safe_dump({**SPEC, **keys}), encoding="utf-8")


def create_topic(broker: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic("trips", 2, 1)])["trips"].result(timeout=15)


def kafka_connection(broker: Broker) -> str:
    # The broker asks for no password: a client that has one sends it to nobody.
    extra = {"bootstrap.servers": broker.bootstrap, "ssl.key.password": SECRET}
    return json.dumps({"conn_type": "kafka", "extra": extra})


def test_a_run_lands_what_kafka_holds(deployment: Deployment) -> None:
    deployment.produce(2_000)
    run = deployment.run()
    assert deployment.states(run) == {"plan": "success", "ingest": "success", "settle": "success"}
    deployment.assert_exact()
    reference = deployment.client.request("GET", f"{run.path}/taskInstances/plan/xcomEntries")
    assert [entry["key"] for entry in reference["xcom_entries"]] == ["return_value"]
    assert xcom(deployment, run) == {
        "pipeline": PIPELINE,
        "lane": "forward",
        "generation": 1,
        "batches": [1],
    }
    (event,) = deployment.client.request("GET", "/assets/events")["asset_events"]
    assert event["source_dag_id"] == event["extra"]["pipeline"] == PIPELINE
    assert len(event["extra"]["batches"]) == 1


def xcom(deployment: Deployment, run: DagRun) -> object:
    path = f"{run.path}/taskInstances/plan/xcomEntries/return_value"
    value = deployment.client.request("GET", path)["value"]
    return json.loads(value) if isinstance(value, str) else value


def test_a_bad_spec_is_its_own_import_error_and_the_others_go_on(deployment: Deployment) -> None:
    """With it, at the same time: a run with nothing new is green and starts no JVM."""
    bad = deployment.specs / "weather.yaml"
    write_spec(bad, pipeline="weather", tabel="weather")
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
    files = set(deployment.warehouse.glob("trips/**/*.parquet"))
    run = deployment.trigger()
    # A file of the batch is there, its commit is not: in the middle of the write.
    until(
        lambda: set(deployment.warehouse.glob("trips/**/*.parquet")) - files,
        *("Spark writes", RUN_SECONDS, 0.01),
    )
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


def test_the_secret_of_the_connection_is_in_no_log_and_no_xcom(deployment: Deployment) -> None:
    home = deployment.airflow.folder
    told = [*home.glob("logs/**/*.log"), *home.glob("processes/*.log"), home / "airflow.db"]
    assert len(told) > 10
    assert [str(file) for file in told if SECRET.encode() in file.read_bytes()] == []
