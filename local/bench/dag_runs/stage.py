"""The stage: a broker, a warm Spark server, and an Airflow with all pipelines of the bench."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from local.bench.dag_runs.runs import TimedRun, Wave, timed
from local.bench.harness import empty
from local.bench.records import PARTITIONS, produce, send
from local.bench.world import JSON
from local.embedded.airflow_client import DagRun
from local.embedded.airflow_processes import Airflow
from local.embedded.broker import Broker
from local.embedded.guard import spark_jvms
from local.embedded.spark_server import SparkServer
from local.embedded.topics import create_topic
from local.embedded.waiting import until

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
    warehouse: Path

    def produce(self, name: str, records: int) -> None:
        """News for a pipeline; for the broken one they are not JSON."""
        if name == BROKEN:
            send(self.broker.bootstrap, name, PARTITIONS, [(None, "{")] * records)
        else:
            produce(self.broker.bootstrap, name, records)

    def run(self, name: str, look: Callable[[DagRun], None] | None = None) -> TimedRun:
        """Trigger one run, and wait for its success."""
        client = self.airflow.client
        run = client.wait_for_run(client.trigger(name), PATIENCE_S, look)
        if run.state != "success":
            raise click.ClickException(f"{run.dag_id}: {client.tasks(run)}")
        return timed(client, run)

    def wave(self, names: Sequence[str]) -> Wave:
        """Trigger a run of each, and wait until all have ended, however they did."""
        client = self.airflow.client
        runs = [client.trigger(name) for name in names]
        # One question for all, or the questions would be the load.
        query = {"state": ["queued", "running"], "limit": 1}
        until(
            lambda: not client.request("GET", "/dags/~/dagRuns", params=query)["total_entries"],
            "all runs are over",
            PATIENCE_S,
            pause=1,
        )
        return Wave([timed(client, run) for run in runs])

    def jvms(self) -> int:
        """How many JVMs run below Airflow."""
        return len(spark_jvms(member.pid for member in self.airflow.family()))


@contextmanager
def on_stage(folder: Path, names: Sequence[str]) -> Iterator[Stage]:
    """Start everything; every pipeline has a topic and a table of its name, and is not paused."""
    specs, warehouse = empty(folder / "pipelines"), folder / "warehouse"
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
            warehouse=warehouse,
            pipelines=specs,
            environment={"AIRFLOW_CONN_SPARK_DEFAULT": server.connection},
            settings={"dag_processor": AIRFLOWS_PARSING},
        )
        with airflow:
            for name in names:
                airflow.client.wait_for_dag(name, PATIENCE_S)
                airflow.client.unpause(name)
            yield Stage(broker, server, airflow, warehouse)
