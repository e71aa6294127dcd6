"""From containers to processes of this machine: what a text of docker-compose.yml is here.

Every service shares this machine, so a service's port is a free one of loopback, and a folder of a
container is one below the world's folder, or the checkout, which the image holds in /opt/sluice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import sluice

from local.embedded.airflow_processes import ROOT
from local.embedded.ports import free_port
from tests.production.worlds.compose_file import Service

LOOPBACK = "127.0.0.1"
OURS = Path(sluice.__file__).parent
IMAGE = "/opt/sluice"
# Installed there, and sources here.
PACKAGE = f"{IMAGE}/.venv/lib/python3.11/site-packages/sluice"


@dataclass(frozen=True)
class Translation:
    folder: Path
    services: Mapping[str, Service]
    ports: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, services: Mapping[str, Service], folder: Path) -> Translation:
        """Each port of each service is another free one."""
        wanted = [(name, port) for name, each in services.items() for port in sorted(each.ports)]
        taken: set[int] = set()
        while len(taken) < len(wanted):
            taken.add(free_port())
        return cls(folder, services, dict(zip(wanted, sorted(taken), strict=True)))

    def text(self, service: Service, text: str) -> str:
        """A word of a command, or a value of an environment."""
        return self._paths(service, self._names(self._addresses(service, text)))

    def environment(self, service: Service) -> dict[str, str]:
        return {name: self.text(service, text) for name, text in service.environment.items()}

    def command(self, service: Service, words: list[str]) -> list[str]:
        return [self._settings_file(service, self.text(service, word)) for word in words]

    def place(self, service: Service, target: str, source: str | None) -> Path:
        """A mounted folder: of a volume with a name, of the host, or of this service alone."""
        if source and source.startswith("/"):
            return Path(source)
        return self.folder / "volumes" / (source or f"{service.name}{target.replace('/', '-')}")

    def _addresses(self, service: Service, text: str) -> str:
        names = "|".join(map(re.escape, self.services))
        text = re.sub(rf"(?<![\w.-])({names}):(\d+)", lambda at: self._there(at[1], at[2]), text)
        own = "|".join(service.ports) or "(?!)"
        own_address = re.compile(rf"\b(?:0\.0\.0\.0|127\.0\.0\.1)([:/])({own})\b")
        text = own_address.sub(
            lambda at: f"{LOOPBACK}{at[1]}{self.ports[service.name, at[2]]}", text
        )
        return re.sub(
            rf"(^|=)({own})$", lambda at: f"{at[1]}{self.ports[service.name, at[2]]}", text
        )

    def _there(self, name: str, port: str) -> str:
        return f"{LOOPBACK}:{self.ports[name, port]}"

    def _names(self, text: str) -> str:
        """A host's name alone, or as the value of a setting."""
        names = "|".join(map(re.escape, (*self.services, "0.0.0.0")))
        return re.sub(rf"(^|=)(?:{names})$", rf"\g<1>{LOOPBACK}", text)

    def _paths(self, service: Service, text: str) -> str:
        places = {target: self.place(service, target, source) for target, source in service.mounts}
        for target, place in {**places, PACKAGE: OURS, IMAGE: ROOT}.items():
            text = re.sub(rf"(?<![\w.-]){re.escape(target)}(?![\w-])", str(place), text)
        return text

    def _settings_file(self, service: Service, word: str) -> str:
        """A file of settings names the image's folder as well: a copy of it names ours."""
        option, _, name = word.partition("=")
        if option != "--properties-file":
            return word
        copy = self.folder / Path(name).name
        copy.write_text(self._paths(service, Path(name).read_text("utf-8")), "utf-8")
        return f"{option}={copy}"
