"""The stage: a broker, a warm Spark server, and an Airflow with all pipelines of the bench."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
from confluent_kafka import Producer
from deltalake import DeltaTable

from local.bench.dag_runs.timed_runs import TimedRun, Wave, timed
from local.bench.records import produce
from local.bench.world import JSON, PARTITIONS, empty, require_rows
from local.embedded.airflow_client import DagRun
from local.embedded.airflow_processes import Airflow
from local.embedded.broker import Broker
from local.embedded.guard import is_spark
from local.embedded.spark_server import SparkServer
from local.embedded.topics import create_topic

NEWS, BROKEN = "news", "broken"
PATIENCE_S = 900
# Airflow's own default. The embedded Airflow looks three times as often, for those who edit specs.
AIRFLOWS_PARSING = {"min_file_process_interval": "30"}


@dataclass
class Stage:
    """All parts while they run."""

    broker: Broker
    server: SparkServer
    airflow: Airflow
    folder: Path

    def produce(self, name: str, records: int) -> None:
        """News for a pipeline; for the broken one they are not JSON."""
        if name == BROKEN:
            producer = Producer({"bootstrap.servers": self.broker.bootstrap})
            for number in range(records):
                producer.produce(name, b"{", partition=number % PARTITIONS)
            producer.flush(60)
        else:
            produce(self.broker.bootstrap, name, PARTITIONS, records)

    def run(self, name: str, look: Callable[[DagRun], None] | None = None) -> TimedRun:
        """Trigger one run, and wait for its success."""
        client = self.airflow.client
        run = client.wait_for_run(client.trigger(name), PATIENCE_S, look)
        if run.state != "success":
            raise click.ClickException(f"{run.dag_id}: {client.tasks(run)}")
        return timed(client, run)

    def wave(self, names: Sequence[str], finished: Callable[[int], None]) -> Wave:
        """Trigger a run of each, and wait until all have ended, however they did."""
        client = self.airflow.client
        runs = [client.trigger(name) for name in names]
        query = {"state": ["queued", "running"], "limit": 1}
        deadline = time.monotonic() + PATIENCE_S
        # One question for all, or the questions would be the load.
        while left := client.request("GET", "/dags/~/dagRuns", params=query)["total_entries"]:
            finished(len(runs) - left)
            if time.monotonic() > deadline:
                raise click.ClickException(f"{left} runs are not over after {PATIENCE_S} s")
            time.sleep(1)
        return Wave([timed(client, run) for run in runs])

    def require(self, name: str, rows: int) -> None:
        """Raise ClickException unless its table has so many rows."""
        require_rows(self.folder / "warehouse" / name, rows)

    def version(self, name: str) -> int:
        """The version of its table."""
        return DeltaTable(self.folder / "warehouse" / name).version()

    def jvms(self) -> int:
        """How many JVMs run below Airflow."""
        return sum(map(is_spark, self.airflow.family()))


@contextmanager
def on_stage(folder: Path, names: Sequence[str]) -> Iterator[Stage]:
    """Start everything; every pipeline has a topic and a table of its name, and is not paused."""
    specs = empty(folder / "pipelines")
    with Broker(folder / "broker") as broker, SparkServer(folder / "spark") as server:
        for name in names:
            create_topic(broker.bootstrap, name, PARTITIONS, {})
            (specs / f"{name}.yaml").write_text(
                f"version: 1\npipeline: {name}\ntopics: [{name}]\ntable: {name}\n"
                f"format: {JSON}\nschedule: null\n",
                encoding="utf-8",
            )
        server.warm(broker.bootstrap)
        airflow = Airflow(
            folder / "airflow",
            broker.bootstrap,
            warehouse=folder / "warehouse",
            pipelines=specs,
            environment={"AIRFLOW_CONN_SPARK_DEFAULT": server.connection},
            settings={"dag_processor": AIRFLOWS_PARSING},
        )
        with airflow:
            for name in names:
                # The list of DAGs comes in pages.
                _wait_for(airflow, name)
                airflow.client.unpause(name)
            yield Stage(broker, server, airflow, folder)


def _wait_for(airflow: Airflow, name: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    query = {"dag_id_pattern": name}
    while not airflow.client.request("GET", "/dags", params=query)["total_entries"]:
        if time.monotonic() > deadline:
            raise click.ClickException(f"no DAG {name}: {airflow.client.import_errors()}")
        time.sleep(1)
