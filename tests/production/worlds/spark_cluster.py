"""A standalone Spark cluster: a master and workers, each a process of its own on loopback."""

from __future__ import annotations

import json
import os
import shutil
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pyspark

from local.embedded.guard import Guarded
from local.embedded.ports import answers, free_port
from tests.worlds.processes import until

SPARK_HOME = Path(pyspark.__file__).parent
EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
# What Spark and Hadoop call; no Python is among them.
_PROGRAMS = ("bash", "chmod", "dirname", "java", "ls", "readlink")
_PYTHON = '#!/bin/bash\necho "$0 $@" >> "{calls}"\nexit 1\n'
_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass
class SparkCluster:
    """Starts and stops its processes; `master` and each worker is a guarded family."""

    folder: Path
    port: int = field(default_factory=free_port)
    pages: int = field(default_factory=free_port)
    master: Guarded | None = None
    workers: list[Guarded] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    @property
    def connection(self) -> str:
        """The Airflow connection `spark_default`, in JSON form."""
        return json.dumps({"conn_type": "spark", "host": "spark://127.0.0.1", "port": self.port})

    @property
    def python_calls(self) -> list[str]:
        """Every call of Python by a worker or an executor."""
        calls = self.folder / "python-calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def start(self, workers: int = 2) -> SparkCluster:
        """Start what does not run, and wait until the master knows all workers."""
        if self.master is None or not self.master.running:
            # Theirs would look for another only once a minute.
            self.stop()
            ports = ("--port", str(self.port), "--webui-port", str(self.pages))
            command = self._command("org.apache.spark.deploy.master.Master", *ports)
            self.master = self._started("master", command)
            until(lambda: answers(self.port) and self._has_pages(), "a Spark master")
        self.workers = [each for each in self.workers if each.running]
        while len(self.workers) < workers:
            self.add_worker()
        until(lambda: self.known_workers() == len(self.workers), "workers at the master")
        return self

    def add_worker(self, apart: Path | None = None) -> Guarded:
        """Start a worker of one core; `apart` is a folder of which it has a copy of its own."""
        sizes = ("--cores", "1", "--memory", "2g", "--webui-port", str(free_port()))
        words = (*sizes, "--work-dir", str(self.folder / "work"), self.url)
        command = self._command("org.apache.spark.deploy.worker.Worker", *words)
        name = f"worker-{uuid.uuid4().hex[:8]}"
        if apart:
            command = _apart(command, apart, self.folder / f"{name}-apart")
        self.workers.append(self._started(name, command))
        return self.workers[-1]

    def known_workers(self) -> int:
        """How many workers the master counts as alive."""
        return int(self.state()["aliveworkers"])

    def state(self) -> dict[str, Any]:
        """What the master's page says, for programs."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.pages}/json/", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def _has_pages(self) -> bool:
        """Its port answers before it has any page."""
        try:
            return bool(self.state())
        except OSError:
            return False

    def applications(self) -> list[dict[str, Any]]:
        """What has run on it, the newest first."""
        state = self.state()
        return [*state["activeapps"], *state["completedapps"]]

    def executors(self) -> list[psutil.Process]:
        """The executors of all workers."""
        return [each for worker in self.workers for each in self.executors_of(worker)]

    def executors_of(self, worker: Guarded) -> list[psutil.Process]:
        """The executors that a worker has started."""
        return [each for each in worker.family() if _is_executor(each)]

    def stop(self) -> None:
        """Kill all of it."""
        for each in (*self.workers, *filter(None, [self.master])):
            each.kill()
        self.workers.clear()

    def _command(self, java_class: str, *words: str) -> list[str]:
        return [str(SPARK_HOME / "bin" / "spark-class"), java_class, "--host", "127.0.0.1", *words]

    def _started(self, name: str, command: list[str]) -> Guarded:
        log = self.folder / f"{name}.log"
        return Guarded.start(command, log, env=self._environment(), cwd=self.folder)

    def _environment(self) -> dict[str, str]:
        marks = {key: value for key, value in os.environ.items() if key.startswith("SLUICE_TEST")}
        return {
            **marks,
            "PATH": str(self._programs()),
            "JAVA_HOME": str(Path(str(shutil.which("java"))).resolve().parents[1]),
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            "SPARK_DAEMON_MEMORY": "256m",
            "JDK_JAVA_OPTIONS": _JVM,
            "PYSPARK_PYTHON": str(self._programs() / "python3"),
        }

    def _programs(self) -> Path:
        """A PATH without Python, but for one that records that it was called, and fails."""
        programs = self.folder / "programs"
        if not programs.exists():
            programs.mkdir(parents=True)
            for each in _PROGRAMS:
                (programs / each).symlink_to(str(shutil.which(each)))
            for each in ("python", "python3"):
                (programs / each).write_text(_PYTHON.format(calls=self.folder / "python-calls"))
                (programs / each).chmod(0o755)
        return programs


def _apart(command: list[str], folder: Path, scratch: Path) -> list[str]:
    """The command where what it writes below the folder is seen by itself alone."""
    scratch.mkdir()
    layers = f"lowerdir={folder},upperdir={scratch}/up,workdir={scratch}/work"
    script = (
        f'/usr/bin/mount -t tmpfs none "{scratch}"'
        f' && /usr/bin/mkdir "{scratch}/up" "{scratch}/work"'
        f' && /usr/bin/mount -t overlay -o "{layers}" none "{folder}" && exec "$@"'
    )
    return ["/usr/bin/unshare", "--mount", "/bin/bash", "-c", script, "worker", *command]


def _is_executor(process: psutil.Process) -> bool:
    try:
        arguments = process.cmdline()
    except psutil.NoSuchProcess:
        return False
    return EXECUTOR in arguments and Path(arguments[0]).name == "java"


@contextmanager
def spark_cluster(folder: Path, workers: int = 2) -> Iterator[SparkCluster]:
    """A cluster that runs for the block."""
    cluster = SparkCluster(folder)
    try:
        yield cluster.start(workers)
    finally:
        cluster.stop()
