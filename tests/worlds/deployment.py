"""Deployments: pipelines in one real Airflow with its own broker, and what tests do there."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from itertools import repeat
from pathlib import Path
from typing import Any

import psutil
import yaml
from confluent_kafka import Producer
from deltalake import DeltaTable

from local.embedded.airflow_client import AirflowClient, DagRun
from local.embedded.airflow_processes import Airflow
from local.embedded.broker import Broker
from local.embedded.guard import is_java
from local.embedded.topics import create_topic
from local.embedded.waiting import until
from tests.oracle import Verdict, assert_exact

SECRET = "7hXq-nobody-may-see-this"
RUN_SECONDS = 240
# For a topic with records from long ago.
KEEPING_ALL = {"retention.ms": "-1", "message.timestamp.type": "CreateTime"}


class Deployment:
    """One pipeline in an Airflow; its topic and its table have its name."""

    def __init__(
        self, airflow: Airflow, broker: Broker, folder: Path, pipeline: str, partitions: int
    ) -> None:
        self.airflow = airflow
        self.broker = broker
        self.warehouse = folder / "warehouse"
        self.specs = folder / "pipelines"
        self.pipeline = pipeline
        self._partitions = partitions
        self._produced = 0

    @property
    def client(self) -> AirflowClient:
        return self.airflow.client

    @property
    def data(self) -> Path:
        return self.warehouse / self.pipeline

    def produce(self, records: int, stamps: Iterable[int] = repeat(0)) -> None:
        """Produce to the partitions in turn; a stamp (milliseconds) of 0 is now."""
        producer = Producer({"bootstrap.servers": self.broker.bootstrap, "linger.ms": 20})
        numbers = range(self._produced, self._produced + records)
        for number, stamp in zip(numbers, stamps, strict=False):
            value = json.dumps({"number": number, "note": "x" * 100})
            where = {"partition": number % self._partitions, "timestamp": stamp}
            producer.produce(self.pipeline, value=value, key=str(number), **where)
            producer.poll(0)
        assert producer.flush(60) == 0
        self._produced += records

    def produce_elsewhere(self, number: int) -> None:
        """Produce a record of a number once more, to the next partition."""
        producer = Producer({"bootstrap.servers": self.broker.bootstrap})
        where = (number + 1) % self._partitions
        producer.produce(self.pipeline, value=json.dumps({"number": number}), partition=where)
        assert producer.flush(60) == 0
        self._produced += 1

    def produce_malformed(self, records: int) -> None:
        """Produce values that are no JSON objects, to the partitions in turn."""
        producer = Producer({"bootstrap.servers": self.broker.bootstrap})
        for number in range(self._produced, self._produced + records):
            value, where = f"no JSON {number}", {"partition": number % self._partitions}
            producer.produce(self.pipeline, value=value, key=str(number), **where)
        assert producer.flush(60) == 0
        self._produced += records

    def unpause(self) -> None:
        self.client.unpause(self.pipeline)

    def trigger(self) -> DagRun:
        return self.client.trigger(self.pipeline)

    def run(self) -> DagRun:
        """Trigger a run, wait for its end, and require success."""
        return self.succeeds(self.trigger())

    def succeeds(self, run: DagRun) -> DagRun:
        """Wait for the run's end, and require success."""
        ended = self.client.wait_for_run(run, RUN_SECONDS)
        assert ended.state == "success", self.client.tasks(run)
        return ended

    def first_run(self) -> DagRun:
        """The first scheduled run, once it has succeeded."""
        runs = until(lambda: self.client.runs(self.pipeline), "a scheduled run")
        assert runs[0].run_id.startswith("scheduled")
        return self.succeeds(runs[0])

    def states(self, run: DagRun) -> dict[str, str | None]:
        return {name: task.state for name, task in self.client.tasks(run).items()}

    def all_runs(self) -> list[DagRun]:
        """All runs of the pipeline if all have finished, else none."""
        runs = self.client.runs(self.pipeline)
        return runs if all(run.finished for run in runs) else []

    def work(self, run: DagRun) -> Any:
        """What the run's `plan` task returned."""
        return self.handed_on(run, "plan")

    def handed_on(self, run: DagRun, task_id: str) -> Any:
        """What a task of the run returned, by XCom."""
        path = f"{run.path}/taskInstances/{task_id}/xcomEntries/return_value"
        value = self.client.request("GET", path)["value"]
        return json.loads(value) if isinstance(value, str) else value

    def announced(self) -> list[str]:
        """The batches that asset events reported, in order."""
        query = {"source_dag_id": self.pipeline, "order_by": "timestamp", "limit": 1000}
        events = self.client.request("GET", "/assets/events", params=query)["asset_events"]
        return [each["batch"] for event in events for each in event["extra"]["batches"]]

    def jvms(self) -> list[psutil.Process]:
        """The Spark JVMs among Airflow's processes."""
        return [process for process in self.airflow.family() if is_java(process)]

    def spark(self) -> tuple[psutil.Process, psutil.Process] | None:
        """The JVM and its Python driver once both run; an earlier JVM only builds the command."""
        drivers = [process for process in self.airflow.family() if is_driver(process)]
        return (drivers[0].parent(), drivers[0]) if drivers else None

    @contextmanager
    def frozen_spark(self, kind: str) -> Iterator[DagRun]:
        """Freeze the Spark of the next run of that kind that starts one."""

        def look() -> tuple[psutil.Process, DagRun] | None:
            runs = [run for run in self.client.runs(self.pipeline) if not run.finished]
            running = [run for run in runs if self.states(run).get("ingest") == "running"]
            found = self.spark()
            if found and [run.run_id.startswith(kind) for run in running] == [True]:
                return found[0], running[0]
            return None

        jvm, run = until(look, f"the Spark of a {kind} run", RUN_SECONDS)
        jvm.suspend()
        yield run
        assert jvm.status() == psutil.STATUS_STOPPED
        jvm.resume()

    def rows(self) -> int:
        return DeltaTable(str(self.data)).to_pyarrow_dataset().count_rows()

    def offsets(self, event: str) -> list[dict[str, Any]]:
        """The pipeline's rows with that event in the offsets table."""
        rows = DeltaTable(f"{self.data}__offsets").to_pyarrow_table()
        wanted = (self.pipeline, event)
        return [row for row in rows.to_pylist() if (row["pipeline"], row["event"]) == wanted]

    def commits(self) -> list[Path]:
        """The commits of the data table that hold a batch."""
        log = sorted(self.data.glob("_delta_log/*.json"))
        return [each for each in log if f'"sluice:{self.pipeline}:' in each.read_text()]

    def files(self) -> set[Path]:
        """The data files, committed or not."""
        return set(self.data.rglob("*.parquet"))

    def assert_exact(self, **expectations: Any) -> Verdict:
        """The oracle finds each record once in the table, and no JVM is left."""
        until(lambda: not self.jvms(), "no JVM left", 30)
        assert self.rows() == self._produced
        where = (self.broker.bootstrap, self.warehouse, self.pipeline, self.pipeline)
        known = {"fmt": "raw", "group": f"sluice-{self.pipeline}", **expectations}
        return assert_exact(*where, [self.pipeline], **known)


def is_driver(process: psutil.Process) -> bool:
    try:
        names = any(argument.endswith("sluice/driver/ingest.py") for argument in process.cmdline())
        return names and process.name().startswith("python")
    except psutil.NoSuchProcess:
        return False


@contextmanager
def deployed(
    folder: Path,
    specs: Mapping[str, Mapping[str, object]],
    *,
    broker: Broker | None = None,
    partitions: int = 2,
    topic: Mapping[str, str] | None = None,
    settings: Mapping[str, Mapping[str, str]] | None = None,
    policies: str = "",
    environment: Mapping[str, str] | None = None,
    schedulers: int = 1,
    python: Path | str = sys.executable,
) -> Iterator[dict[str, Deployment]]:
    """An Airflow with these pipelines (name → further keys of the spec), all paused.

    `topic` is the configuration of each pipeline's topic. Without a broker they have one of their
    own.
    `policies` are Airflow's cluster policies: what a deployment may change in every DAG.
    """
    (folder / "pipelines").mkdir()
    (folder / "home" / "config").mkdir(parents=True)
    (folder / "home" / "config" / "airflow_local_settings.py").write_text(policies)
    with nullcontext(broker) if broker else Broker(folder / "broker") as broker:
        for name, keys in specs.items():
            assert create_topic(broker.bootstrap, name, partitions, topic or {})
            write_spec(folder / "pipelines" / f"{name}.yaml", name, **keys)
        airflow = Airflow(
            folder / "home",
            broker.bootstrap,
            warehouse=folder / "warehouse",
            pipelines=folder / "pipelines",
            environment={
                "AIRFLOW_CONN_KAFKA_DEFAULT": kafka_connection(broker),
                **(environment or {}),
            },
            settings=settings,
            schedulers=schedulers,
            python=python,
        )
        with airflow:
            for name in specs:
                airflow.client.wait_for_dag(name)
            yield {name: Deployment(airflow, broker, folder, name, partitions) for name in specs}


def write_spec(path: Path, pipeline: str, **keys: object) -> None:
    spec = {
        "version": 1,
        "pipeline": pipeline,
        "topics": [pipeline],
        "table": pipeline,
        "format": {"type": "raw"},
        "schedule": None,
        "owner": "tests",
        "description": "Trips of a test",
    }
    path.write_text(yaml.safe_dump({**spec, **keys}), encoding="utf-8")


def kafka_connection(broker: Broker) -> str:
    # The broker requires no password, so a client that has one never sends it.
    extra = {"bootstrap.servers": broker.bootstrap, "ssl.key.password": SECRET}
    return json.dumps({"conn_type": "kafka", "extra": extra})
