"""docker-compose.yml in containers: a project of its own on this machine's Docker engine."""

from __future__ import annotations

import json
import shutil
import subprocess
import uuid
from pathlib import Path
from typing import Self

from local.embedded.airflow_client import AirflowClient
from local.embedded.airflow_processes import ROOT
from local.embedded.ports import free_port
from local.embedded.waiting import until
from local.secrets_file import write
from tests.production.worlds.compose_file import COMPOSE, FILE, in_bucket, secret

IMAGE = "sluice:0.1.0"
START_SECONDS = 600
# Two projects may be on one machine, so each publishes ports of its own; Kafka tells its clients
# where it is.
_PORTS = """
services:
  kafka:
    ports: !override ["127.0.0.1:{kafka}:9094"]
    environment:
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,HOST://127.0.0.1:{kafka}
  airflow-api-server:
    ports: !override ["127.0.0.1:{airflow}:8080"]
"""
_OF_S3 = """
  s3:
    ports: !override ["127.0.0.1:{s3}:7070"]
"""


def build_image() -> None:
    """Build the image of the Dockerfile. An AssertionError says what is missing for that."""
    assert shutil.which("docker"), "no `docker` on PATH: install Docker, or leave out this target"
    _docker("info")
    _docker("build", "--tag", IMAGE, str(ROOT))


class Containers:
    """All services of the file, healthy; they and their volumes are removed at the end."""

    def __init__(self, folder: Path, *, bucket: bool) -> None:
        self.folder = folder
        self.name = f"sluice-{uuid.uuid4().hex[:8]}"
        self._bucket = bucket
        self._secrets = folder / ".env"
        write(self._secrets)
        ports = {"kafka": free_port(), "airflow": free_port(), "s3": free_port()}
        self.bootstrap = f"127.0.0.1:{ports['kafka']}"
        self._url = f"http://127.0.0.1:{ports['airflow']}"
        changes = _PORTS
        if bucket:
            in_bucket(self._secrets)
            changes += _OF_S3
        (folder / "ports.yml").write_text(changes.format(**ports), "utf-8")

    def __enter__(self) -> Self:
        try:
            # The images of others are fetched where they are missing.
            self.compose("up", "--wait", "--no-build", seconds=START_SECONDS)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self.compose("down", "--volumes", "--timeout", "5")

    def client(self) -> AirflowClient:
        return AirflowClient(self._url, "admin", secret(self._secrets, "AIRFLOW_PASSWORD"))

    def tables(self) -> Path:
        """A copy of the tables, as they are now."""
        copy = self.folder / f"copy-{uuid.uuid4().hex[:8]}"
        copy.mkdir()
        volume = f"{self.name}_{'s3' if self._bucket else 'warehouse'}"
        kept = "sluice/warehouse" if self._bucket else "."
        words = ["run", "--rm", "--volume", f"{volume}:/kept:ro", IMAGE]
        packed = _docker(*words, "tar", "-C", f"/kept/{kept}", "-cf", "-", ".")
        subprocess.run(["tar", "-xf", "-", "-C", str(copy)], input=packed, check=True)
        return copy

    def kill(self, service: str) -> None:
        """SIGKILL, as to a container that is out of memory."""
        self.compose("kill", service)

    def start(self, service: str) -> None:
        """Start a container again, and wait until it is healthy."""
        self.compose("start", service)
        until(lambda: self.healthy(service), f"{service}, started again", START_SECONDS)

    def healthy(self, service: str) -> bool:
        """What its own check says."""
        state: dict[str, str] = json.loads(self.compose("ps", "--format", "json", service))
        return state["Health"] == "healthy"

    def run(self, service: str, *command: str) -> str:
        """What a command prints that runs inside a service."""
        return self.compose("exec", "-T", service, *command)

    def compose(self, *words: str, seconds: float = 120) -> str:
        files = ["-f", str(FILE), "-f", str(self.folder / "ports.yml")]
        project = ["--project-name", self.name, "--env-file", str(self._secrets), *files]
        return _run([str(COMPOSE), *project, *words], seconds).decode()


def _docker(*words: str) -> bytes:
    return _run(["docker", *words], 1800)


def _run(command: list[str], seconds: float) -> bytes:
    done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr.decode(errors='replace')[-3000:]}"
    return done.stdout
