"""The stack: broker, a warm Spark server and Airflow, kept running in the background for a user.

    python -m local.stack up | down | fill | run

`up` starts `run` detached and waits until it is ready; `run` owns all three, which end with it,
however it ends. Everything lives in build/up/: after a restart the stack still has
its topics, tables, runs and login. `fill` produces the flights into its topic.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import psutil
from rich.console import Console
from rich.progress import Progress

from local.demo.flights import COUNT, create_flights_topic, produce, records
from local.embedded.airflow_home import write_private
from local.embedded.airflow_processes import ROOT, Airflow, connections
from local.embedded.broker import Broker
from local.embedded.spark_server import SparkServer

log = logging.getLogger("sluice.stack")

FOLDER = ROOT / "build" / "up"
ABOUT = "A Kafka broker, a warm Spark server and Airflow, with their data in build/up/."
VERBS = {
    "up": "start them in the background; print address, login and next steps (make up)",
    "down": "stop them; all data stays (make down)",
    "fill": "produce the demo's flights into topic flights of the running stack",
    "run": "own them in the foreground until SIGTERM",
}
START_SECONDS = 240
STOP_SECONDS = 60
ENDED = "ended by itself"


@dataclass(frozen=True)
class Process:
    """A process, identified for good: a later one may reuse the id, but not the start time."""

    pid: int
    started: float

    @classmethod
    def of(cls, pid: int) -> Self:
        return cls(pid, psutil.Process(pid).create_time())

    def find(self) -> psutil.Process | None:
        """The process, as long as it runs."""
        try:
            process = psutil.Process(self.pid)
            ours = abs(process.create_time() - self.started) < 1
            return process if ours and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None


@dataclass(frozen=True)
class StackState:
    """What `up` and `down` know of a running stack, in build/up/stack.json."""

    owner: Process
    guards: tuple[Process, ...]
    bootstrap: str
    url: str
    username: str
    password: str
    environment: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> StackState | None:
        """None when there is no stack."""
        try:
            stored = json.loads((folder / "stack.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        owner = Process(**stored.pop("owner"))
        guards = tuple(Process(**guard) for guard in stored.pop("guards"))
        return cls(owner, guards, **stored)

    def write(self, folder: Path) -> None:
        unfinished = folder / "stack.json.new"
        unfinished.touch(mode=0o600)
        unfinished.write_text(json.dumps(asdict(self)), encoding="utf-8")
        unfinished.replace(folder / "stack.json")

    def running(self) -> list[psutil.Process]:
        return [found for one in (self.owner, *self.guards) if (found := one.find())]


def run(folder: Path) -> None:
    """Own the stack until SIGTERM, or until one of its processes ends."""
    signal.signal(signal.SIGTERM, end_once)
    with Broker(folder / "broker") as broker:
        create_flights_topic(broker.bootstrap)
        log.info("broker at %s", broker.bootstrap)
        with SparkServer(folder / "spark") as server:
            airflow = Airflow(
                folder / "airflow",
                broker.bootstrap,
                warehouse=folder / "warehouse",
                environment={"AIRFLOW_CONN_SPARK_DEFAULT": server.connection},
            )
            server.warm(broker.bootstrap)
            with airflow:
                log.info("Airflow at %s", airflow.url)
                state_of(broker, server, airflow).write(folder)
                while not (gone := parts_gone(broker, server, airflow)):
                    time.sleep(0.5)
                log.error("%s %s, and with it the stack; logs are in %s", gone, ENDED, folder)


def parts_gone(broker: Broker, server: SparkServer, airflow: Airflow) -> str:
    """Which parts have ended; empty while all run."""
    parts = {
        "the broker": broker.running,
        "the Spark server": server.running,
        "Airflow": len(airflow.pids) == 4,
    }
    return ", ".join(name for name, runs in parts.items() if not runs)


def end_once(number: int, _: object) -> None:
    signal.signal(number, signal.SIG_IGN)
    sys.exit(0)


def state_of(broker: Broker, server: SparkServer, airflow: Airflow) -> StackState:
    names = ("SLUICE_WAREHOUSE", "SLUICE_PIPELINES", "AIRFLOW_HOME", *connections(broker.bootstrap))
    environment = airflow.environment()
    return StackState(
        owner=Process.of(os.getpid()),
        guards=tuple(Process.of(pid) for pid in (broker.pids[0], server.pids[0], *airflow.pids)),
        bootstrap=broker.bootstrap,
        url=airflow.url,
        username=airflow.login.username,
        password=airflow.login.password,
        environment={name: environment[name] for name in names},
    )


def up(folder: Path, console: Console) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    state = StackState.read(folder)
    if state is None or not state.running():
        if state is not None:
            console.print(told_end(folder))
        (folder / "stack.json").unlink(missing_ok=True)
        with console.status("Starting broker, Spark and Airflow (under a minute) …"):
            state = launch(folder)
    if state is None:
        console.print(f"[red]The stack did not start.[/] {folder / 'stack.log'} ends:")
        console.print((folder / "stack.log").read_text(encoding="utf-8")[-3000:], markup=False)
        return 1
    show(state, folder, console)
    return 0


def told_end(folder: Path) -> str:
    """That the stack has ended without `down`, and why; its log is kept beside the next one."""
    log_of_it, kept = folder / "stack.log", folder / "stack.log.before"
    lines = log_of_it.read_text(encoding="utf-8").splitlines() if log_of_it.exists() else []
    said = (each.partition(" ERROR ")[2] for each in reversed(lines))
    why = next((each for each in said if ENDED in each), "it was killed")
    if not lines:
        return f"The stack had ended ({why}). It starts again, with all its data."
    log_of_it.replace(kept)
    return (
        f"The stack had ended: {why}. It starts again, with all its data; its log is now"
        f" {os.path.relpath(kept)}."
    )


def launch(folder: Path) -> StackState | None:
    """Start `run` in its own session; None if it ended before it was ready."""
    command = [sys.executable, "-m", "local.stack", "run"]
    with (folder / "stack.log").open("wb") as out:
        owner = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            start_new_session=True,
        )
    deadline = time.monotonic() + START_SECONDS
    try:
        while owner.poll() is None and time.monotonic() < deadline:
            if state := StackState.read(folder):
                return state
            time.sleep(0.2)
    except KeyboardInterrupt:
        pass
    owner.terminate()
    owner.wait()
    return None


def show(state: StackState, folder: Path, console: Console) -> None:
    exports = folder / "env"
    # The connection to Spark holds a token.
    write_private(exports, exports_of(state.environment))
    console.print(f"Airflow    {state.url}   login {state.username} / {state.password}")
    console.print(f"Kafka      {state.bootstrap}")
    console.print(f"Warehouse  {state.environment['SLUICE_WAREHOUSE']}")
    console.print(f"Commands   . {os.path.relpath(exports)}    and then, in the same shell:")
    console.print("             sluice status")
    console.print("             sluice produce orders --partitions 3 < orders.jsonl")
    console.print("             sluice peek orders --spec > dags/pipelines/orders.yaml")
    console.print("             sluice run orders")
    console.print("             python -m local.stack fill    (the demo's flights; each time all)")
    console.print("Stop       make down    (if a part dies, all ends: make up brings it back, with")
    console.print("             its data, and says what died)")


def exports_of(environment: Mapping[str, str]) -> str:
    """A file to be sourced: after it, a shell knows the stack, and finds `sluice`."""
    binaries = shlex.quote(str(Path(sys.executable).parent))
    lines = [f"export {key}={shlex.quote(text)}\n" for key, text in environment.items()]
    return "".join([f'export PATH={binaries}:"$PATH"\n', *lines])


def fill(folder: Path, console: Console) -> int:
    """Produce the flights into the running stack."""
    state = StackState.read(folder)
    if state is None or state.owner.find() is None:
        console.print("Nothing is running: `make up` first.")
        return 1
    with Progress(console=console) as progress:
        task = progress.add_task("Producing flights", total=COUNT)
        count = produce(state.bootstrap, records(), lambda n: progress.update(task, completed=n))
    console.print(f"{count:,} records in topic flights.")
    return 0


def down(folder: Path, console: Console) -> int:
    """End the owner, and with it all the rest; only processes that are certainly ours."""
    state = StackState.read(folder)
    running = state.running() if state else []
    if state is None or not running:
        console.print("Nothing is running.")
        return 0
    with console.status("Stopping Airflow, Spark and the broker …"):
        for process in [owner] if (owner := state.owner.find()) else running:
            process.terminate()
        _, left = psutil.wait_procs(running, timeout=STOP_SECONDS)
    if left:
        console.print(f"[red]Still running:[/] {', '.join(str(each.pid) for each in left)}")
        return 1
    (folder / "stack.json").unlink()
    console.print(f"Stopped. All data stays in {os.path.relpath(folder)}.")
    return 0


def main() -> int:
    """Do what the verb says. Returns the exit code; wrong usage is 2."""
    parser = argparse.ArgumentParser(prog="python -m local.stack", description=ABOUT)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, about in VERBS.items():
        verbs.add_parser(name, help=about, description=about)
    verb = parser.parse_args().verb
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    console = Console(highlight=False, soft_wrap=True)
    if verb == "run":
        run(FOLDER)
        return 1
    return {"up": up, "down": down, "fill": fill}[verb](FOLDER, console)


if __name__ == "__main__":
    sys.exit(main())
