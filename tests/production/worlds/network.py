"""A network in front of a server, which fails on demand.

with Gateway(folder) as gateway, Network(folder, gateway.port) as network: …
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import httpx

from local.embedded.ports import free_port
from local.embedded.server import PROGRAMS, Server


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
