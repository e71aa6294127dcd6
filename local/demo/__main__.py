"""The demo: a year of flights from Kafka into Delta, by Airflow and Spark, with a kill in between.

    python -m local.demo

The first run starts a Spark of its own. Then the connection `spark_default` names a server that is
warm: spring, nothing new, and the second half of the year, when the server is killed in the middle
of its write and the task is cleared. Then the tables are compared with Kafka. Exit code 1 if any
figure is wrong. No process is left behind in any case.
"""

from __future__ import annotations

import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import TypeVar

import psutil
from deltalake import DeltaTable
from rich.console import Console
from rich.progress import Progress

from local.demo.flights import Record, create_flights_topic, produce, records, split
from local.demo.report import Run, report
from local.embedded.airflow_client import DagRun
from local.embedded.airflow_processes import ROOT, Airflow, connections
from local.embedded.broker import Broker
from local.embedded.guard import spark_jvms
from local.embedded.spark_server import SparkServer

FOLDER = ROOT / "build" / "demo"
DAG = "flights"
TASKS = ("plan", "ingest", "settle", "refresh")
SPRING, SUMMER = date(2013, 4, 1), date(2013, 7, 1)
SPARK, SPARK_VARIABLE = "spark_default", "AIRFLOW_CONN_SPARK_DEFAULT"
RUN_SECONDS = 600
Found = TypeVar("Found")


class Demo:
    """A running stack, and its runs so far."""

    def __init__(
        self, console: Console, broker: Broker, server: SparkServer, airflow: Airflow
    ) -> None:
        self._console = console
        self._broker = broker
        self._server = server
        self._airflow = airflow
        self._table = FOLDER / "warehouse" / "flights"
        self._unread = 0
        self.runs: list[Run] = []

    def say(self, line: str) -> None:
        """One line of progress."""
        self._console.print(f"[dim]{time.strftime('%H:%M:%S')}[/]  {line}")

    def produce(self, what: str, flights: list[Record]) -> None:
        """Produce a part of the year, and wait until the broker has it."""
        with Progress(console=self._console, transient=True) as progress:
            task = progress.add_task(f"producing {what}", total=len(flights))
            bootstrap = self._broker.bootstrap
            self._unread += produce(
                bootstrap, flights, lambda done: progress.update(task, completed=done)
            )
        self.say(f"produced {what}: {len(flights):,} records")

    def first_run(self, name: str) -> None:
        """Unpause the DAG: the scheduler itself starts the run that is due."""
        client = self._airflow.client
        client.wait_for_dag(DAG)
        client.unpause(DAG)
        self.say(f"unpaused DAG {DAG}; the scheduler starts the run that is due")
        runs = self._wait("waiting for the scheduler", lambda: client.runs(DAG), 60)
        self._watch(name, runs[-1])

    def run(self, name: str) -> None:
        """Trigger a run, and wait until it is over."""
        self._watch(name, self._airflow.client.trigger(DAG))

    def start_own_spark(self) -> None:
        """Define the connection with which each run starts a Spark of its own."""
        self._airflow.client.connect(SPARK, connections(self._broker.bootstrap)[SPARK_VARIABLE])

    def use_server(self) -> None:
        """Start a Spark server, warm it, and name it in the connection; nothing else changes."""
        with self._console.status("starting a Spark server, and warming it"):
            self._server.start()
            self._server.warm(self._broker.bootstrap)
        self._airflow.client.connect(SPARK, self._server.connection)
        self.say(f"connection {SPARK} now names the Spark server on port {self._server.port}")

    def killed_run(self, name: str) -> None:
        """Kill the Spark server while a run writes its files; then clear the task."""
        client = self._airflow.client
        before, known = self._version(), self._files()
        jvm = self._server.jvm()
        run = client.trigger(DAG)
        self._wait("waiting for Spark to write", lambda: self._files() - known, RUN_SECONDS)
        jvm.kill()
        self.say(f"killed the Spark server: files written, table version still {self._version()}")
        if self._version() != before:
            raise RuntimeError("the server was killed too late: its commit had landed")
        state = self._wait("waiting for Airflow to notice", lambda: self._ingest_failed(run), 120)
        self.say(f"task ingest is {state}; clearing it")
        client.clear(run, "ingest")
        self._watch(name, run)

    def _watch(self, name: str, run: DagRun) -> None:
        jvms: set[int] = set()
        with self._console.status(f"run: {name}") as status:

            def look(_: DagRun) -> None:
                jvms.update(jvm.pid for jvm in self._jvms())
                states = (
                    f"{e.task_id} {e.state}" for e in self._airflow.client.tasks(run).values()
                )
                status.update(f"run: {name}: {', '.join(states)}")

            finished = self._airflow.client.wait_for_run(run, RUN_SECONDS, look)
        tasks = self._airflow.client.tasks(run)
        states = {task_id: tasks[task_id].state or "none" for task_id in TASKS}
        seconds = finished.seconds or 0.0
        warm = self._server.running
        self.runs.append(Run(name, self._unread, seconds, states, len(jvms), warm))
        self._unread = 0
        self.say(f"run: {name}: {finished.state} after {seconds:.1f} s, {len(jvms)} JVM started")
        if finished.state != "success":
            raise RuntimeError(f"{name}: {self._airflow.client.log(run, 'ingest')[-3000:]}")

    def _wait(self, what: str, look: Callable[[], Found], seconds: float) -> Found:
        deadline = time.monotonic() + seconds
        with self._console.status(what):
            while not (found := look()):
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{what}: not after {seconds:.0f} s")
                time.sleep(0.05)
        return found

    def _jvms(self) -> list[psutil.Process]:
        return spark_jvms(member.pid for member in self._airflow.family())

    def _files(self) -> set[Path]:
        return set(self._table.glob("**/*.parquet"))

    def _version(self) -> int:
        return DeltaTable(self._table).version()

    def _ingest_failed(self, run: DagRun) -> str | None:
        state = self._airflow.client.tasks(run)["ingest"].state
        return state if state in ("up_for_retry", "failed") else None


def play(console: Console) -> bool:
    """Play the whole demo. Returns whether every figure is right."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    winter, later = split(records(), SPRING)
    spring, autumn = split(later, SUMMER)
    server = SparkServer(FOLDER / "spark")
    with Broker(FOLDER / "broker") as broker, ExitStack() as at_the_end:
        at_the_end.callback(server.stop)
        create_flights_topic(broker.bootstrap)
        airflow = Airflow(
            FOLDER / "airflow",
            broker.bootstrap,
            warehouse=FOLDER / "warehouse",
            environment={SPARK_VARIABLE: None},
        )
        console.print("Starting Airflow: api-server, scheduler, dag-processor, triggerer …")
        with airflow:
            demo = Demo(console, broker, server, airflow)
            demo.say(f"Kafka at {broker.bootstrap}, Airflow at {airflow.url}")
            demo.start_own_spark()
            demo.produce("January to March", winter)
            demo.first_run("winter, cold")
            demo.use_server()
            demo.produce("April to June", spring)
            demo.run("spring, warm")
            demo.run("nothing new")
            demo.produce("July to December", autumn)
            demo.killed_run("autumn, with a kill")
            # The comparison of the state table finds the server warm, too.
            warm = {SPARK_VARIABLE: server.connection}
            return report(console, {**airflow.environment(), **warm}, demo.runs)


def main() -> int:
    """Play the demo; Ctrl-C and SIGTERM end it in order."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    console = Console(highlight=False, soft_wrap=True)
    started = time.monotonic()
    try:
        right = play(console)
    except KeyboardInterrupt:
        console.print("Stopped. Nothing is left running.")
        return 130
    console.print(
        f"{'All figures are right' if right else '[red]A figure is wrong[/]'}"
        f" after {time.monotonic() - started:.0f} s."
    )
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
