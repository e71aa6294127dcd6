"""The stage of places: a bucket, two clusters and three Spark servers, started as asked for.

Everywhere Spark has two cores: those of one JVM, or of two workers with one each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property, partial

from sluice.lake.s3_conf import s3_conf

from local.bench.place import InBucket, Place
from local.bench.stage import Stage
from local.embedded.gateway import Gateway, reached
from local.embedded.spark_cluster import SparkCluster
from local.embedded.spark_server import SparkServer, embedded_settings

LOCAL = "local[2]"


class Places(Stage):
    """The same two cores and the same records, in three places, cold and warm."""

    @property
    def local(self) -> Place:
        """On disk, with a Spark of its own."""
        return Place(json.dumps({"conn_type": "spark", "host": LOCAL}))

    @property
    def bucket(self) -> Place:
        """In the bucket, with a Spark of its own."""
        return Place(self.local.spark, partial(InBucket, self._gateway))

    @cached_property
    def cluster(self) -> Place:
        """On disk, with a driver of its own and the executors of two workers."""
        return Place(self.enter_context(SparkCluster.running(self.folder / "cluster")).connection)

    @cached_property
    def local_server(self) -> Place:
        """On disk, on a Spark server."""
        return Place(self._server("local", {"spark.master": LOCAL}))

    @cached_property
    def bucket_server(self) -> Place:
        """In the bucket, on a Spark server."""
        told = {"AIRFLOW_CONN_SLUICE_WAREHOUSE": self._gateway.connection()}
        variables = reached(told)
        s3 = {**embedded_settings(on_s3=True), **s3_conf(variables)}
        server = self._server("bucket", {**s3, "spark.master": LOCAL}, variables)
        return Place(server, self.bucket.warehouse)

    @cached_property
    def cluster_server(self) -> Place:
        """On disk, on a Spark server whose executors are those of two workers.

        They are not the other cluster's: a server's application keeps the cores while it runs.
        """
        cluster = self.enter_context(SparkCluster.running(self.folder / "cluster_of_server"))
        return Place(self._server("cluster", {"spark.master": cluster.url}))

    @cached_property
    def _gateway(self) -> Gateway:
        return self.enter_context(Gateway(self.folder / "s3"))

    def _server(
        self, name: str, settings: Mapping[str, str], variables: Mapping[str, str] | None = None
    ) -> str:
        """The connection of a server with these settings and further environment."""
        folder = self.folder / f"server_{name}"
        server = SparkServer(folder, settings=settings, environment=variables)
        return self.enter_context(server).connection
