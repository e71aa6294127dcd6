"""Striking: a process of the product meets a fault at a step of the protocol, and ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pyspark
import pytest
from sluice.lake.jars.jar_folder import JarFolder
from sluice.lake.jars.jar_set import SPARK

from local.embedded.guard import spark_jvms
from local.embedded.spark_server import SETTLED_SECONDS, SparkServer
from local.embedded.waiting import until
from tests.worlds.pipelines import Installed
from tests.worlds.processes import PLANNING_ALONE, SETTLING_ALONE, Run, send_line

FAULTY = "FaultyLogStore"
SOURCE = Path(__file__).parent / "java" / f"{FAULTY}.java"
JARS = JarFolder.in_environment(os.environ).of(SPARK)
CLASS_PATH = f"{JARS}/*:{Path(pyspark.__file__).parent}/jars/*"
RUN = ("run",)

# What the fixture `faulty` is.
Faulty = Callable[..., Installed]

# A test's pipelines use a Spark of their own, then the one server: the fixture `place`.
BOTH_PLACES = pytest.mark.parametrize("place", ["own", "server"], indirect=True)

ALONE = {
    "before planning": PLANNING_ALONE,
    "offsets listed": PLANNING_ALONE,
    "plan durable": PLANNING_ALONE,
    "before receipt": SETTLING_ALONE,
    "quarantine to close": SETTLING_ALONE,
    "before mirror": SETTLING_ALONE,
    "after mirror": SETTLING_ALONE,
}
INSIDE_A_COMMIT = (
    "creation",
    "files written",
    "reply lost",
    "quarantine creation",
    "quarantine files written",
    "quarantine reply lost",
    "state files written",
    "state reply lost",
)


def compile_java(source: Path, classes: Path) -> None:
    """Compile a class of the fault tests against Spark's, Delta's and our own."""
    subprocess.run(["javac", "-cp", CLASS_PATH, "-d", str(classes), str(source)], check=True)


def faulty_log_store(folder: Path) -> dict[str, str]:
    """The Spark configuration with which a commit fails as SLUICE_TEST_COMMIT says.

    In `spark.jars` it leaves the JVM's class path as it is, which the class archive must fit.
    """
    classes = folder / "classes"
    compile_java(SOURCE, classes)
    jar = shutil.make_archive(str(folder / FAULTY), "zip", classes)
    return {"spark.delta.logStore.file.impl": FAULTY, "spark.jars": jar}


def start_with(trips: Installed, point: str, kind: str, command: Sequence[str] = RUN) -> Run:
    """Start the lightest process that reaches the point: a verb alone, or the whole command."""
    fault = f"{point}: {kind}"
    if point in INSIDE_A_COMMIT and trips.server:
        commit_fault(trips).write_text(fault)
        return trips.start(*command)
    if point in INSIDE_A_COMMIT:
        return trips.start(*command, SLUICE_TEST_COMMIT=fault)
    env = {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": fault}
    if point not in ALONE or command != RUN:
        return trips.start(*command, **env)
    run = trips.start_alone(ALONE[point], **env)
    send_line(run.process)
    return run


def meets(trips: Installed, run: Run, point: str, kind: str) -> None:
    """Wait until the run has met its fault."""
    if point not in INSIDE_A_COMMIT or not trips.server:
        run.says(f"failpoint {point}: {kind}")
        return
    fault = commit_fault(trips)
    until(lambda: not fault.exists() or run.process.poll() is not None, f"{point}: {kind}", 120)
    assert not fault.exists(), f"ended without its fault: {run.stderr.read_text()}"


def commit_fault(trips: Installed) -> Path:
    """The file by which a server is told of a fault; it goes when the fault is met."""
    return trips.folder / "commit-fault"


def strike(
    trips: Installed, point: str, kind: str, command: Sequence[str] = RUN
) -> subprocess.CompletedProcess[str]:
    """Let the fault happen; a process that hangs is killed, its JVM is left to itself.

    A server is not killed with its client: its commit hangs.
    """
    if kind == "kill" and trips.server and point in INSIDE_A_COMMIT:
        kind = "hang"
    run = start_with(trips, point, kind, command)
    meets(trips, run, point, kind)
    if kind == "hang":
        assert run.process.poll() is None
        run.kill()
    return run.end()


def frozen(
    trips: Installed, point: str, command: Sequence[str] = RUN
) -> tuple[Run, psutil.Process]:
    """A run whose JVM has frozen itself inside a commit; `resume` sets it going again."""
    run = start_with(trips, point, "stop", command)
    meets(trips, run, point, "stop")
    jvm = jvm_of(trips.server) if trips.server else run.jvm()
    until(lambda: jvm.status() == psutil.STATUS_STOPPED, "a frozen JVM")
    return run, jvm


def jvm_of(server: SparkServer) -> psutil.Process:
    """The server's JVM."""
    return until(lambda: spark_jvms(server.pids), "a JVM")[0]


def settled(server: SparkServer) -> SparkServer:
    """The server, once it has run for so long that its guard starts it again when it dies."""
    began = jvm_of(server).create_time() + SETTLED_SECONDS + 1
    until(lambda: time.time() > began, "a settled server", 2 * SETTLED_SECONDS, pause=0.5)
    return server
