"""A schema registry: Apicurio's, by its Confluent-compatible interface, with all it has in memory.

with SchemaRegistry(folder) as registry:
    AvroSerializer(registry.client(), schema)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

import httpx
from confluent_kafka.schema_registry import SchemaRegistryClient

from local.embedded.server import PROGRAMS, Server
from local.embedded.waiting import until


class SchemaRegistry(Server):
    """On the loopback, without a login. Killed, it has forgotten all."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, PROGRAMS / "apicurio")

    def command(self) -> list[str]:
        return [
            *("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            f"-Djava.io.tmpdir={self.folder}",
            "-Dquarkus.http.host=127.0.0.1",
            f"-Dquarkus.http.port={self.port}",
        ]

    def start(self) -> Self:
        super().start()
        until(self._answers, f"{self.url} answers", pause=0.1)
        return self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/apis/ccompat/v7"

    def connection(self, **changes: Any) -> str:
        """Its Airflow connection, in JSON form."""
        return json.dumps({"conn_type": "http", "extra": {"url": self.url}, **changes})

    def client(self) -> SchemaRegistryClient:
        """Confluent's own client."""
        return SchemaRegistryClient({"url": self.url})

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/schemas/types", trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False
