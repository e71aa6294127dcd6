"""A Spark Connect server with the product's own configuration, for clients with SPARK_REMOTE."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark
from sluice.lake.session import spark_conf
from sluice.spec.pipeline_spec import PipelineSpec

from local.embedded.guard import Guarded
from local.embedded.ports import answers, free_port
from tests.worlds.processes import JAVA_TUNING, until

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
ANY = {"version": 1, "pipeline": "tests", "table": "tests", "topics": ["none"]}


@dataclass(frozen=True)
class ConnectServer:
    """A server that runs, and the address that SPARK_REMOTE takes."""

    process: Guarded
    address: str


@contextmanager
def connect_server(folder: Path, conf: Mapping[str, str] = {}) -> Iterator[ConnectServer]:
    """Run a server, with further configuration; its log is in the folder."""
    port = free_port()
    whole = {
        **spark_conf(PipelineSpec.model_validate({**ANY, "format": {"type": "raw"}})),
        "spark.master": "local[1]",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        **conf,
    }
    submit = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--class", SERVER]
    pairs = [f"{key}={value}" for key, value in whole.items()]
    # The class is Spark's own: there is no application to load.
    words = [*submit, *(word for pair in pairs for word in ("--conf", pair)), "spark-internal"]
    log = folder / "connect.log"
    server = Guarded.start(words, log, env={**os.environ, **JAVA_TUNING}, cwd=folder)

    def serves() -> bool:
        assert server.running, log.read_text()
        return answers(port)

    try:
        until(serves, "the Connect server", 120)
        yield ConnectServer(server, f"sc://127.0.0.1:{port}")
    finally:
        server.kill()
