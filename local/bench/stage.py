"""The stage: the servers that contenders use, each started when the first of them asks for it."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from local.embedded.spark_server import SparkServer


class Stage(ExitStack):
    """What was started on it ends with it, the last first."""

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__()
        self.folder = folder
        self.bootstrap = bootstrap


class ServerStage(Stage):
    """A stage with one Spark server."""

    @cached_property
    def server(self) -> SparkServer:
        """It is warm."""
        server = self.enter_context(SparkServer(self.folder / "spark"))
        server.warm(self.bootstrap)
        return server
