"""What the commands say before the first run, of an empty topic, and of a broker that is down."""

from __future__ import annotations

import json
import re

import pytest

from local.embedded.ports import free_port
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = pytest.mark.integration


def said(trips: Installed, command: str, *args: str) -> str:
    done = trips.sluice(command, *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_before_the_first_run_lag_and_time_to_loss_are_known(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(2, retention_ms=604_800_000))
    produce(trips.bootstrap, trips.topics[0], numbered(7))
    status = said(trips, "status").splitlines()
    first, second = (next(x for x in status if f"[{n}] " in x) for n in (0, 1))
    assert first.split()[1:5] == ["0", "7", "7", "7"]
    assert re.search(r" [67] days?, ", first)
    assert "all read" in second
    proof = said(trips, "verify")
    assert "not read yet, so not compared: 7 offsets" in proof
    assert "no record is stored twice" in proof
    assert max(map(len, proof.splitlines())) <= 80 + len(trips.name)
    assert json.loads(said(trips, "verify", "--json"))["unread"] == 7


def test_a_topic_that_keeps_all_says_so(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(retention_ms=-1))
    produce(trips.bootstrap, trips.topics[0], numbered(1))
    assert "kept for ever" in said(trips, "status")
    assert "kept for ever" in said(trips, "plan")


def test_an_empty_topic(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    plan = said(trips, "plan")
    assert "the topic is empty: nothing to read" in plan
    assert "unknown size" not in plan
    assert "not read yet" not in said(trips, "verify")


@pytest.mark.parametrize("command", ["status", "plan", "verify"])
def test_a_broker_that_is_down_is_one_error(
    command: str, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    trips.bootstrap = f"127.0.0.1:{free_port()}"
    done = trips.process(command)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[-1].startswith("BrokerUnavailable: broker 127.0.0.1:")
    assert "run again when the broker answers" in lines[-1]
    assert len(lines) == 1, done.stderr
