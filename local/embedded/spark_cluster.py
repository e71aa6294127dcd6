"""A standalone Spark cluster: a master and workers, each a process of its own on loopback.

    with SparkCluster.running(folder) as cluster:
        os.environ["AIRFLOW_CONN_SPARK_DEFAULT"] = cluster.connection

Its processes get only the PATH of this process's environment, as on another host.
"""

from __future__ import annotations

import json
import os
import shutil
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pyspark

from local.embedded.guard import Guarded
from local.embedded.ports import answers, free_port
from local.embedded.waiting import until

SPARK_HOME = Path(pyspark.__file__).parent


@dataclass
class SparkCluster:
    """Starts and stops its processes; `master` and each worker is a guarded family."""

    folder: Path
    port: int = field(default_factory=free_port)
    pages: int = field(default_factory=free_port)
    master: Guarded | None = None
    workers: list[Guarded] = field(default_factory=list)

    @classmethod
    @contextmanager
    def running(cls, folder: Path) -> Iterator[Self]:
        """A cluster of two workers that runs for the block."""
        cluster = cls(folder)
        try:
            yield cluster.start()
        finally:
            cluster.stop()

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    @property
    def connection(self) -> str:
        """The Airflow connection `spark_default`, in JSON form."""
        return json.dumps({"conn_type": "spark", "host": "spark://127.0.0.1", "port": self.port})

    def start(self, workers: int = 2) -> Self:
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

    def add_worker(self, within: Sequence[str] = ()) -> Guarded:
        """Start a worker of one core; `within` is a command that runs its command."""
        sizes = ("--cores", "1", "--memory", "2g", "--webui-port", str(free_port()))
        words = (*sizes, "--work-dir", str(self.folder / "work"), self.url)
        command = self._command("org.apache.spark.deploy.worker.Worker", *words)
        self.workers.append(self._started(f"worker-{uuid.uuid4().hex[:8]}", [*within, *command]))
        return self.workers[-1]

    def known_workers(self) -> int:
        """How many workers the master counts as alive."""
        return int(self.state()["aliveworkers"])

    def state(self) -> dict[str, Any]:
        """What the master's page says, for programs."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.pages}/json/", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def stop(self) -> None:
        """Kill all of it."""
        for each in (*self.workers, *filter(None, [self.master])):
            each.kill()
        self.workers.clear()

    def environment(self) -> dict[str, str]:
        """The environment of its processes, including executors."""
        return {
            "PATH": os.environ["PATH"],
            "JAVA_HOME": str(Path(str(shutil.which("java"))).resolve().parents[1]),
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            "SPARK_DAEMON_MEMORY": "256m",
            # By default a master also takes jobs over HTTP, without a login.
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
        }

    def _has_pages(self) -> bool:
        """Its port answers before it has any page, and with people's page before programs'."""
        try:
            return bool(self.state())
        except (OSError, json.JSONDecodeError):
            return False

    def _command(self, java_class: str, *words: str) -> list[str]:
        return [str(SPARK_HOME / "bin" / "spark-class"), java_class, "--host", "127.0.0.1", *words]

    def _started(self, name: str, command: list[str]) -> Guarded:
        log = self.folder / f"{name}.log"
        return Guarded.start(command, log, env=self.environment(), cwd=self.folder)
