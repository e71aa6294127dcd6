"""docker-compose.yml, as Docker Compose itself understands it."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.embedded.airflow_processes import ROOT

COMPOSE = ROOT / "build" / "bin" / "docker-compose"
FILE = ROOT / "docker-compose.yml"
EVERY_PROFILE = "*"
BUCKET = "COMPOSE_PROFILES=s3\nSLUICE_WAREHOUSE=s3a://sluice/warehouse\n"


@dataclass(frozen=True)
class Service:
    """A service of the file; its texts are as a container would get them."""

    name: str
    keys: dict[str, Any]

    @property
    def command(self) -> list[str]:
        """Its words; none where the image's own command is meant."""
        return [word.replace("$$", "$") for word in self.keys.get("command") or []]

    @property
    def settings(self) -> dict[str, str]:
        """Those of Spark that its command gives, by `--conf=key=value`."""
        given = [word.removeprefix("--conf=") for word in self.command if "--conf=" in word]
        return dict(each.split("=", 1) for each in given)

    @property
    def environment(self) -> dict[str, str]:
        return dict(self.keys.get("environment") or {})

    @property
    def check(self) -> list[str]:
        """The health check's command; none for a service that ends by itself."""
        kind, *words = self.keys["healthcheck"].get("test") or ["NONE"]
        return words if kind == "CMD" else []

    @property
    def ports(self) -> set[str]:
        published = {str(port["target"]) for port in self.keys.get("ports") or []}
        return published | {str(port) for port in self.keys.get("expose") or []}

    @property
    def mounts(self) -> list[tuple[str, str | None]]:
        """The folders that outlive the container's own: target, and volume's name or host path."""
        return [(each["target"], each.get("source")) for each in self.keys.get("volumes") or []]

    @property
    def needs(self) -> dict[str, str]:
        """The services that it waits for, and what for."""
        waits = self.keys.get("depends_on") or {}
        return {name: each["condition"] for name, each in waits.items()}


def secret(secrets: Path, name: str) -> str:
    """What `.env` says of a name."""
    lines = secrets.read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)[name]


def in_bucket(secrets: Path) -> None:
    """Say in `.env` that the tables are in a bucket, as the head of the file tells it."""
    with secrets.open("a", encoding="utf-8") as file:
        file.write(BUCKET)


def compose(*words: str, secrets: Path | None) -> subprocess.CompletedProcess[str]:
    """Docker Compose on the file, with these secrets only, or with none."""
    assert COMPOSE.is_file(), f"{COMPOSE} is missing: run `local/servers.sh docker-compose`"
    command = [str(COMPOSE), "--env-file", str(secrets or os.devnull), "-f", str(FILE), *words]
    environment = {"PATH": os.environ["PATH"]}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def services(secrets: Path, profile: str | None = None) -> dict[str, Service]:
    """The services that start with that profile (None: those without one)."""
    chosen = ["--profile", profile] if profile else []
    done = compose(*chosen, "config", "--format", "json", secrets=secrets)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["services"]
    return {name: Service(name, keys) for name, keys in found.items()}
