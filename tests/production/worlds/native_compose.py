"""docker-compose.yml without Docker: its commands, environments, health checks and order, here.

Only what is in the images of others is done in their stead: the start of PostgreSQL, of Kafka and
of the S3 gateway, and the health checks that need a program of theirs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from local.embedded.airflow_client import AirflowClient
from local.embedded.airflow_processes import ROOT
from local.embedded.guard import Guarded
from local.embedded.server import PROGRAMS
from local.embedded.waiting import until
from local.secrets_file import write
from tests.production.worlds import kafka_image
from tests.production.worlds.compose_file import Service, in_bucket, secret, services
from tests.production.worlds.translation import LOOPBACK, Translation
from tests.worlds.postgres import BINARIES, Postgres
from tests.worlds.processes import JAVA_TUNING

START_SECONDS = 360
PAUSE_SECONDS = 0.3
HEALTHY = ROOT / "local" / "healthy.py"
GATEWAY = PROGRAMS / "versitygw"
# A container has nothing else of its host's environment; tests find what they left by the last.
OF_THE_HOST = ("HOME", "JAVA_HOME", "SLUICE_TEST_SESSION")


class NativeCompose:
    def __init__(self, folder: Path, *, bucket: bool = False) -> None:
        """`bucket`: the tables are on the gateway, and not in the volume."""
        self.folder = folder
        self._secrets = folder / ".env"
        write(self._secrets)
        if bucket:
            assert GATEWAY.is_file(), f"{GATEWAY} is missing: run `local/servers.sh versitygw`"
            in_bucket(self._secrets)
        self.services = services(self._secrets)
        self._translation = Translation.of(self.services, folder)
        login = self.services["postgres"].environment
        self._postgres = Postgres(
            user=login["POSTGRES_USER"],
            password=login["POSTGRES_PASSWORD"],
            database=login["POSTGRES_DB"],
            port=self.port("postgres", 5432),
        )
        self._guarded: dict[str, Guarded] = {}
        self._healthy: set[str] = set()

    def __enter__(self) -> Self:
        try:
            self._start_all()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        for guarded in self._guarded.values():
            guarded.kill()
        self._postgres.close()

    def port(self, name: str, port: int) -> int:
        """Where a service's port is on this machine."""
        return self._translation.ports[name, str(port)]

    @property
    def bootstrap(self) -> str:
        """Kafka as the host sees it."""
        return f"{LOOPBACK}:{self.port('kafka', 9094)}"

    @property
    def warehouse(self) -> Path:
        """The folder of the tables; the gateway keeps each object as a file."""
        place = self.services["airflow-scheduler-1"].environment["SLUICE_WAREHOUSE"]
        kept = place.replace("s3a://", "s3/").strip("/")
        return self._translation.folder / "volumes" / kept

    def client(self) -> AirflowClient:
        url = f"http://{LOOPBACK}:{self.port('airflow-api-server', 8080)}"
        return AirflowClient(url, "admin", secret(self._secrets, "AIRFLOW_PASSWORD"))

    def guarded(self, name: str) -> Guarded:
        return self._guarded[name]

    def start(self, name: str) -> None:
        """Start a service as its container would start, or start again after its end."""
        service = self.services[name]
        environment = self._environment(service)
        for target, source in service.mounts:
            self._translation.place(service, target, source).mkdir(parents=True, exist_ok=True)
        if name == "postgres":
            self._postgres.open()
        elif name == "kafka":
            self._guarded[name] = kafka_image.start(environment, self.folder / name)
        else:
            where = self._translation.text(service, service.keys.get("working_dir", "/"))
            entry_point = [str(GATEWAY)] if name == "s3" else []
            self._guarded[name] = Guarded.start(
                [*entry_point, *self._translation.command(service, service.command)],
                self.folder / "logs" / f"{name}.log",
                env=environment,
                cwd=Path(where) if Path(where).is_dir() else self.folder,
            )

    def restart(self, name: str) -> None:
        """Start a service again, and wait until its check says that it is healthy."""
        self.start(name)
        until(lambda: self.healthy(name), f"{name}, started again")

    def healthy(self, name: str) -> bool:
        """What the health check of the file says."""
        service = self.services[name]
        ended = name in self._guarded and not self._guarded[name].running
        assert not ended, f"{name} has ended; see {self.folder / 'logs'}"
        if name == "kafka":
            return kafka_image.serves(self.bootstrap)
        check = self._translation.command(service, service.check)
        if name == "s3":
            check = [sys.executable, str(HEALTHY), check[-1]]
        environment = self._environment(service)
        done = subprocess.run(check, env=environment, capture_output=True, check=False)
        return done.returncode == 0

    def _environment(self, service: Service) -> dict[str, str]:
        ours = {name: os.environ[name] for name in OF_THE_HOST if name in os.environ}
        folders = [str(Path(sys.executable).parent), str(BINARIES), os.environ["PATH"]]
        image = {"PATH": os.pathsep.join(folders), **JAVA_TUNING}
        return {**ours, **image, **self._translation.environment(service)}

    def _start_all(self) -> None:
        """Each service as soon as what it waits for is there."""
        waiting, deadline = set(self.services), time.monotonic() + START_SECONDS
        while waiting or self._healthy != set(self.services):
            for name in sorted(waiting):
                if self._healthy >= self.services[name].needs.keys() & self.services.keys():
                    self.start(name)
                    waiting.remove(name)
            for name in sorted(set(self.services) - waiting - self._healthy):
                if self._done(name) if self._ends(name) else self.healthy(name):
                    self._healthy.add(name)
            time.sleep(PAUSE_SECONDS)
            late = set(self.services) - self._healthy
            assert time.monotonic() < deadline, f"not healthy: {late}; see {self.folder / 'logs'}"

    def _ends(self, name: str) -> bool:
        waits = [each.needs.get(name) for each in self.services.values()]
        return "service_completed_successfully" in waits

    def _done(self, name: str) -> bool:
        code = self._guarded[name].process.poll()
        assert code in (None, 0), f"{name} ended with {code}; see {self.folder / 'logs'}"
        return code == 0
