"""Pipelines whose warehouse is in a bucket; the oracle reads the server's own files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from local.embedded.gateway import BUCKET, Gateway
from tests.worlds.pipelines import Installed
from tests.worlds.records import numbered, produce


@dataclass
class InBucket(Installed):
    """An installed pipeline with `s3a://…` as its warehouse, asked for through a port."""

    gateway: Gateway = field(kw_only=True)
    port: int | None = None

    @property
    def warehouse(self) -> Path:
        return self.gateway.objects / BUCKET / self.folder.name

    @property
    def uri(self) -> str:
        return f"s3a://{BUCKET}/{self.folder.name}"

    @property
    def environment(self) -> dict[str, str]:
        connection = self.gateway.connection(self.port)
        return {
            **super().environment,
            "SLUICE_WAREHOUSE": self.uri,
            "AIRFLOW_CONN_SLUICE_WAREHOUSE": connection,
        }

    def more(self, first: int) -> None:
        """Ten more records."""
        produce(self.bootstrap, self.topics[0], numbered(10, first))

    def exact(self) -> None:
        """The next run catches up; each of two batches of ten is in one commit."""
        done = self.process("run")
        assert done.returncode == 0, done.stderr
        assert (self.version(), self.judge().facts.rows) == (2, 20)
