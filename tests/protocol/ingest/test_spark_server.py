"""A Spark Connect server lands the same batches as a local Spark; one that has gone is named."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyspark
import pytest
from sluice.lake.session import spark_conf
from sluice.spec.pipeline_spec import PipelineSpec

from local.embedded.guard import Guarded
from tests.worlds.pipelines import Installed
from tests.worlds.processes import JAVA_TUNING, until
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

NAMED = {"version": 1, "pipeline": "server", "table": "server", "topics": ["none"]}


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def server(tmp_path: Path, port: int) -> Iterator[Guarded]:
    """A Spark Connect server, started as the product starts its own JVM."""
    spec = PipelineSpec.model_validate({**NAMED, "format": {"type": "raw"}})
    conf = {
        **spark_conf(spec),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    (jar,) = Path(pyspark.__file__).with_name("jars").glob("spark-connect_*.jar")
    command = [str(Path(sys.executable).with_name("spark-submit")), "--master", "local[2]"]
    command += [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", str(jar)]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, **JAVA_TUNING, "PATH": path}
    running = Guarded.start(command, tmp_path / "server.log", env=env, cwd=tmp_path)
    try:
        until(lambda: _answers(port) or not running.running, "a Spark Connect server", 120)
        assert running.running, (tmp_path / "server.log").read_text()
        yield running
    finally:
        running.kill()


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def test_batches_land_on_a_server_and_one_that_has_gone_is_named(
    server: Guarded, port: int, topic: Callable[..., str], pipeline: Callable[..., Installed]
) -> None:
    trips, remote = pipeline(topic()), {"SPARK_REMOTE": f"sc://127.0.0.1:{port}"}
    for first in (0, 10):
        produce(trips.bootstrap, trips.topics[0], numbered(10, first))
        done = trips.sluice("run", **remote)
        assert done.returncode == 0, done.stderr
        assert "Warning" not in done.stderr
    assert trips.judge().facts.rows == 20

    produce(trips.bootstrap, trips.topics[0], numbered(10, 20))
    server.kill()
    started = time.monotonic()
    done = trips.sluice("run", **remote)
    assert time.monotonic() - started < 40
    assert done.returncode == 1
    assert (
        f"SparkFailed: trips: Spark did not start: 127.0.0.1:{port} gave no answer" in done.stderr
    )
    assert "Traceback" not in done.stderr
    assert trips.judge(settled=False, caught_up=False).facts.rows == 20
