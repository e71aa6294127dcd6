"""A Spark cluster of one master and one worker, each a process with an environment of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from local.embedded.guard import Guarded
from local.embedded.ports import answers, free_port
from tests.worlds.processes import until

HOME = Path(pyspark.__file__).parent


@dataclass(frozen=True)
class Standalone:
    """The cluster's address, and the folder with its logs and its executors' files."""

    folder: Path
    port: int
    pids: set[int]

    @property
    def connection(self) -> str:
        """The connection `spark_default`, in Airflow's JSON form."""
        master = {"conn_type": "spark", "host": "spark://127.0.0.1", "port": self.port}
        return json.dumps(master)


@contextmanager
def standalone(folder: Path) -> Iterator[Standalone]:
    """A running cluster with one core and half a gigabyte for executors."""
    port = free_port()
    deploy = "org.apache.spark.deploy"
    host = ["--host", "127.0.0.1", "--webui-port", str(free_port())]
    with ExitStack() as stack:
        master = _started(folder, f"{deploy}.master.Master", [*host, "--port", str(port)])
        stack.callback(master.stop)
        until(lambda: answers(port), "a Spark master")
        limits = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work")]
        address = f"spark://127.0.0.1:{port}"
        worker = _started(folder, f"{deploy}.worker.Worker", [*host, *limits, address])
        stack.callback(worker.stop)
        log = folder / "Master.log"
        until(lambda: "Registering worker" in log.read_text(), "a Spark worker")
        yield Standalone(folder, port, {worker.process.pid})


def _started(folder: Path, kind: str, words: list[str]) -> Guarded:
    java = Path(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else "java"
    tuning = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    opened = [f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in ("java.nio", "sun.nio.ch")]
    command = [str(java), *tuning, *opened, "-cp", f"{HOME}/jars/*", kind, *words]
    # Below it a worker finds what executors run.
    env = {**os.environ, "SPARK_HOME": str(HOME), "SPARK_SCALA_VERSION": "2.13"}
    return Guarded.start(command, folder / f"{kind.rsplit('.', 1)[1]}.log", env=env)
