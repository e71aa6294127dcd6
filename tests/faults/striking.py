"""Striking: a process of the product meets a fault at a step of the protocol, and ends."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pyspark

from local.embedded.broker import JARS as BROKER_JARS
from tests.worlds.pipelines import Installed
from tests.worlds.processes import PLANNING_ALONE, SETTLING_ALONE, Run, until

FAULTY = "FaultyLogStore"
SOURCE = Path(__file__).parent / "java" / f"{FAULTY}.java"
JARS = BROKER_JARS.with_name("spark")
CLASS_PATH = f"{JARS}/*:{Path(pyspark.__file__).parent}/jars/*"
RUN = ("run",)

# What the fixture `faulty` is.
Faulty = Callable[..., Installed]

ALONE = {
    "before planning": PLANNING_ALONE,
    "offsets listed": PLANNING_ALONE,
    "plan durable": PLANNING_ALONE,
    "before receipt": SETTLING_ALONE,
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
    if point in INSIDE_A_COMMIT:
        return trips.start(*command, SLUICE_TEST_COMMIT=fault)
    env = {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": fault}
    if point not in ALONE or command != RUN:
        return trips.start(*command, **env)
    run = trips.start_alone(ALONE[point], **env)
    run.process.stdin.write("\n")
    run.process.stdin.flush()
    return run


def strike(
    trips: Installed, point: str, kind: str, command: Sequence[str] = RUN
) -> subprocess.CompletedProcess[str]:
    """Let the fault happen; a process that hangs is killed, its JVM is left to itself."""
    run = start_with(trips, point, kind, command)
    run.says(f"failpoint {point}: {kind}")
    if kind == "hang":
        assert run.process.poll() is None
        run.kill()
    return run.end()


def frozen(
    trips: Installed, point: str, command: Sequence[str] = RUN
) -> tuple[Run, psutil.Process]:
    """A run whose JVM has frozen itself inside a commit; `resume` sets it going again."""
    run = start_with(trips, point, "stop", command)
    run.says(f"failpoint {point}: stop")
    jvm = run.jvm()
    until(lambda: jvm.status() == psutil.STATUS_STOPPED, "a frozen JVM")
    return run, jvm
