"""A watched cluster: it shows what runs on it, and records every call of Python by its workers."""

from __future__ import annotations

import os
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from local.embedded.guard import Guarded
from local.embedded.spark_cluster import SparkCluster

EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
# What Spark and Hadoop call; no Python is among them.
_PROGRAMS = ("bash", "chmod", "dirname", "java", "ls", "readlink")
_PYTHON = '#!/bin/bash\necho "$0 $@" >> "{calls}"\nexit 1\n'
_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass
class WatchedCluster(SparkCluster):
    """Its processes bear the mark of the tests that started them."""

    @property
    def python_calls(self) -> list[str]:
        """Every call of Python by a worker or an executor."""
        calls = self.folder / "python-calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def add_worker_apart(self, folder: Path) -> Guarded:
        """Start a worker that has a copy of its own of the folder."""
        scratch = self.folder / f"apart-{uuid.uuid4().hex[:8]}"
        scratch.mkdir()
        return self.add_worker(within=_apart(folder, scratch))

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

    def environment(self) -> dict[str, str]:
        marks = {key: value for key, value in os.environ.items() if key.startswith("SLUICE_TEST")}
        programs = self._programs()
        return {
            **super().environment(),
            **marks,
            "PATH": str(programs),
            "JDK_JAVA_OPTIONS": _JVM,
            "PYSPARK_PYTHON": str(programs / "python3"),
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


def _apart(folder: Path, scratch: Path) -> list[str]:
    """Runs a command where what it writes below the folder is seen by itself alone."""
    layers = f"lowerdir={folder},upperdir={scratch}/up,workdir={scratch}/work"
    script = (
        f'/usr/bin/mount -t tmpfs none "{scratch}"'
        f' && /usr/bin/mkdir "{scratch}/up" "{scratch}/work"'
        f' && /usr/bin/mount -t overlay -o "{layers}" none "{folder}" && exec "$@"'
    )
    return ["/usr/bin/unshare", "--mount", "/bin/bash", "-c", script, "worker"]


def _is_executor(process: psutil.Process) -> bool:
    try:
        arguments = process.cmdline()
    except psutil.NoSuchProcess:
        return False
    return EXECUTOR in arguments and Path(arguments[0]).name == "java"
