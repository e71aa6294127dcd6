"""A gateway: a real S3 server over a folder, and a network in front of it that fails on demand.

    with Gateway(folder) as gateway, Network(folder, gateway.port) as network: …

What the server keeps as objects are files in its folder: the oracle reads the tables there.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from local.embedded.airflow_processes import ROOT
from local.embedded.ports import answers, free_port
from tests.worlds.processes import until

BUCKET = "lake"
PROGRAMS = ROOT / "build" / "bin"


class Server:
    """A program that runs on a port of its own."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        """What to run besides the program."""
        raise NotImplementedError

    def variables(self) -> dict[str, str]:
        """What the program is told by its environment."""
        return {}

    def start(self) -> Self:
        """Start it, and wait until it answers."""
        assert self._program.is_file(), f"{self._program} is missing: `make test-production` has it"
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{self._program.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._program), *self.command()],
                env={**os.environ, **self.variables()},
                stdout=log,
                stderr=log,
            )
        until(lambda: answers(self.port), f"{self._program.name} on port {self.port}", pause=0.1)
        return self

    def kill(self) -> None:
        """SIGKILL; what it keeps is on disk."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()


class Gateway(Server):
    """An S3 server with one bucket and one account."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, PROGRAMS / "versitygw")
        self.objects = folder / "objects"
        self.key, self.secret = "sluice-tests", secrets.token_urlsafe(24)
        (self.objects / BUCKET).mkdir(parents=True)

    def command(self) -> list[str]:
        return ["--port", f"127.0.0.1:{self.port}", "posix", str(self.objects)]

    def variables(self) -> dict[str, str]:
        return {"ROOT_ACCESS_KEY": self.key, "ROOT_SECRET_KEY": self.secret}

    def connection(self, port: int | None = None, **changes: Any) -> str:
        """The Airflow connection `sluice_warehouse`, in JSON form."""
        extra = {"endpoint_url": f"http://127.0.0.1:{port or self.port}"}
        whole = {"conn_type": "aws", "login": self.key, "password": self.secret, "extra": extra}
        return json.dumps({**whole, **changes})


class Network(Server):
    """A network in front of a server, which is well until told otherwise."""

    def __init__(self, folder: Path, upstream: int) -> None:
        super().__init__(folder, PROGRAMS / "toxiproxy")
        self.listens = free_port()
        self._upstream = upstream

    def command(self) -> list[str]:
        return ["-host", "127.0.0.1", "-port", str(self.port)]

    def start(self) -> Self:
        super().start()
        self._ask(
            "POST",
            "/proxies",
            {
                "name": "s3",
                "listen": f"127.0.0.1:{self.listens}",
                "upstream": f"127.0.0.1:{self._upstream}",
                "enabled": True,
            },
        )
        return self

    @contextmanager
    def toxic(self, kind: str, stream: str = "downstream", **attributes: Any) -> Iterator[None]:
        """One of the proxy's own faults, such as `latency` or `reset_peer`, for the block."""
        toxic = {"name": kind, "type": kind, "stream": stream, "attributes": attributes}
        self._ask("POST", "/proxies/s3/toxics", toxic)
        try:
            yield
        finally:
            self._ask("DELETE", f"/proxies/s3/toxics/{kind}")

    @contextmanager
    def down(self) -> Iterator[None]:
        """Refuse all connections, and cut those there are, for the block."""
        self._ask("POST", "/proxies/s3", {"enabled": False})
        try:
            yield
        finally:
            self._ask("POST", "/proxies/s3", {"enabled": True})

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> None:
        httpx.request(method, f"http://127.0.0.1:{self.port}{path}", json=body).raise_for_status()
