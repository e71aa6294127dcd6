"""A Spark Connect server lands the same batches as a local Spark; one that has gone is named."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.worlds.connect_server import ConnectServer, connect_server
from tests.worlds.pipelines import Pipelines, Topic, more

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ConnectServer]:
    with connect_server(tmp_path) as running:
        yield running


def test_batches_land_on_a_server_and_one_that_has_gone_is_named(
    server: ConnectServer, topic: Topic, pipeline: Pipelines
) -> None:
    # Processes of their own: one Python can have a local session or one on a server, not both.
    trips, remote = pipeline(topic()), {"SPARK_REMOTE": server.address}
    for first in (0, 10):
        more(trips, 10, first)
        done = trips.process("run", **remote)
        assert done.returncode == 0, done.stderr
        assert "Warning" not in done.stderr
    assert trips.judge().facts.rows == 20

    more(trips, 10, 20)
    server.process.kill()
    started = time.monotonic()
    done = trips.process("run", **remote)
    # Spark's own client would try for nine minutes.
    assert time.monotonic() - started < 40
    assert done.returncode == 1
    place = server.address.removeprefix("sc://")
    assert f"SparkFailed: trips: Spark did not start: {place} gave no answer" in done.stderr
    assert "Traceback" not in done.stderr
    assert trips.judge(settled=False, caught_up=False).facts.rows == 20


def test_a_server_whose_commits_could_overwrite_others_is_warned_about(
    tmp_path: Path, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    more(trips, 10)
    deltas_own = {"spark.delta.logStore.file.impl": "io.delta.storage.HDFSLogStore"}
    with connect_server(tmp_path, deltas_own) as server:
        done = trips.process("run", SPARK_REMOTE=server.address)
    assert done.returncode == 0, done.stderr
    assert "found io.delta.storage.HDFSLogStore: a commit could overwrite" in done.stderr
    assert trips.judge().facts.rows == 10
