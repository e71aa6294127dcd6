"""The stage: where pipelines have their tables and their Spark, and the servers for it.

In the bench of places every Spark has two cores: those of one JVM, or of two workers of one each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sluice.lake.s3_conf import s3_conf

from local.embedded.gateway import BUCKET, Gateway, reached
from local.embedded.spark_cluster import SparkCluster
from local.embedded.spark_server import SparkServer, embedded_settings

LOCAL = "local[2]"


@dataclass(frozen=True)
class Place:
    """The connection `spark_default` (None: not defined), and the bucket, if tables are in one."""

    spark: str | None = None
    gateway: Gateway | None = None

    def files(self, folder: Path) -> Path:
        """Where the tables of the pipeline with this folder are, as files."""
        return self.gateway.objects / BUCKET / _prefix(folder) if self.gateway else folder

    def variables(self, folder: Path) -> dict[str, str]:
        """The environment of the pipeline with this folder."""
        told = {"SLUICE_WAREHOUSE": str(folder)}
        if self.gateway:
            told["SLUICE_WAREHOUSE"] = f"s3a://{BUCKET}/{_prefix(folder)}"
            told["AIRFLOW_CONN_SLUICE_WAREHOUSE"] = self.gateway.connection()
        return told | ({"AIRFLOW_CONN_SPARK_DEFAULT": self.spark} if self.spark else {})


def _prefix(folder: Path) -> str:
    return "/".join(folder.parts[-2:])


class Stage(ExitStack):
    """Each server starts when it is first asked for, and ends with the stage, the last first."""

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__()
        self.folder = folder
        self.bootstrap = bootstrap

    @cached_property
    def server(self) -> Place:
        """On disk, on a warm Spark server with all cores."""
        server = self.enter_context(SparkServer(self.folder / "spark"))
        server.warm(self.bootstrap)
        return Place(server.connection)

    @property
    def local(self) -> Place:
        """On disk, with a Spark of its own."""
        return Place(json.dumps({"conn_type": "spark", "host": LOCAL}))

    @property
    def bucket(self) -> Place:
        """In the bucket, with a Spark of its own."""
        return Place(self.local.spark, self._gateway)

    @cached_property
    def cluster(self) -> Place:
        """On disk, with a driver of its own and the executors of two workers."""
        return Place(self._cluster("cluster").connection)

    @cached_property
    def local_server(self) -> Place:
        """On disk, on a Spark server."""
        return Place(self._server("local", {"spark.master": LOCAL}))

    @cached_property
    def bucket_server(self) -> Place:
        """In the bucket, on a Spark server."""
        told = reached({"AIRFLOW_CONN_SLUICE_WAREHOUSE": self._gateway.connection()})
        s3 = {**embedded_settings(on_s3=True), **s3_conf(told)}
        return Place(self._server("bucket", {**s3, "spark.master": LOCAL}, told), self._gateway)

    @cached_property
    def cluster_server(self) -> Place:
        """On disk, on a Spark server whose executors are those of two workers.

        They are not the other cluster's: a server's application keeps the cores while it runs.
        """
        master = self._cluster("cluster_of_server").url
        return Place(self._server("cluster", {"spark.master": master}))

    @cached_property
    def _gateway(self) -> Gateway:
        return self.enter_context(Gateway(self.folder / "s3"))

    def _cluster(self, name: str) -> SparkCluster:
        return self.enter_context(SparkCluster.running(self.folder / name))

    def _server(
        self, name: str, settings: Mapping[str, str], variables: Mapping[str, str] | None = None
    ) -> str:
        folder = self.folder / f"server_{name}"
        server = SparkServer(folder, settings=settings, environment=variables)
        return self.enter_context(server).connection
