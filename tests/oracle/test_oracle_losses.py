"""The oracle where Kafka loses records: retention, before and inside a batch; re-created topics."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from local.embedded.broker import Broker
from tests.oracle import KafkaTruth, read_truth
from tests.oracle.awkward import awkward_topic, create, send
from tests.oracle.fault import FIRST, two_batches
from tests.oracle.world import World
from tests.oracle.world_verdicts import verdict_of, verdict_on

pytestmark = pytest.mark.integration

NEW_ROWS = "_batch = 'backfill-1-1'"


def drop_below(broker: Broker, truth: KafkaTruth, offset: int) -> KafkaTruth:
    """Delete the first records of partition 0, as retention does."""
    name = next(iter(truth.partitions.values())).topic
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for done in admin.delete_records([TopicPartition(name, 0, offset)]).values():
        done.result(timeout=15)
    return read_truth(broker.bootstrap, [name])


def test_a_recorded_loss_is_exact_and_an_unrecorded_one_red(broker: Broker, tmp_path: Path) -> None:
    before = read_truth(broker.bootstrap, [awkward_topic(broker.bootstrap)])
    world = World(before)
    world.batch("forward-1-1", FIRST)
    world.truth = drop_below(broker, before, 17)
    world.batch("forward-1-2", {0: (17, 26), 1: (4, 26)})
    assert verdict_on(world, tmp_path / "silent").invariants == {3}
    world.lose(0, 13, 17)
    verdict = verdict_on(world, tmp_path / "loud")
    assert verdict.exact, str(verdict)
    kept = verdict_of(world, tmp_path / "loud", remembered=before)
    assert kept.exact, str(kept)
    assert kept.facts.records == 40
    assert kept.notes == []


def test_a_loss_inside_a_pinned_range_needs_its_row(broker: Broker, tmp_path: Path) -> None:
    before = read_truth(broker.bootstrap, [awkward_topic(broker.bootstrap)])
    world = World(before)
    plan = world.plan("forward-1-1", {0: (0, 26), 1: (0, 26)})
    world.truth = drop_below(broker, before, 5)
    world.land(plan)
    world.settle(plan)
    assert verdict_on(world, tmp_path / "silent").invariants == {9}
    world.lose(0, 0, 5)
    verdict = verdict_on(world, tmp_path / "loud")
    assert verdict.exact, str(verdict)


def test_an_offset_that_was_asked_to_be_skipped_needs_its_row(
    broker: Broker, tmp_path: Path
) -> None:
    world = World(read_truth(broker.bootstrap, [awkward_topic(broker.bootstrap)]))
    world.batch("forward-1-1", {0: (0, 17), 1: (0, 4)})
    world.batch("forward-1-2", {0: (18, 26), 1: (4, 26)})
    asked = frozenset({(0, 17)})
    assert verdict_on(world, tmp_path / "silent", skipped=asked).invariants == {3, 9}
    world.lose(0, 17, 18)
    assert verdict_on(world, tmp_path / "lost", skipped=asked).invariants == {9}
    world.steps[-1].rows[0]["reason"] = "skipped by a person: it stops the line"
    verdict = verdict_on(world, tmp_path / "loud", skipped=asked)
    assert verdict.exact, str(verdict)
    assert verdict_of(world, tmp_path / "loud").invariants == {9}


def test_a_row_that_kafka_dropped_keeps_its_batch(broker: Broker, tmp_path: Path) -> None:
    before = read_truth(broker.bootstrap, [awkward_topic(broker.bootstrap)])
    world = World(before)
    two_batches(world)
    plan = world.plan("backfill-1-1", {0: (2, 8)}, "replace")
    world.truth = drop_below(broker, before, 6)
    world.land(plan)
    world.steps[-1].replaces = f"(_partition = 0 AND _offset IN (6, 7)) OR {NEW_ROWS}"
    world.settle(plan)
    world.lose(0, 2, 6, lane="backfill")
    verdict = verdict_on(world, tmp_path / "kept")
    assert verdict.exact, str(verdict)
    assert (verdict.facts.rows, verdict.facts.quarantined) == (38, 2)
    world.of("data")[2].replaces = f"(_partition = 0 AND _offset IN (2, 6, 7)) OR {NEW_ROWS}"
    assert verdict_on(world, tmp_path / "taken").invariants == {4}


def test_a_recreated_topic_needs_a_loss_row(broker: Broker, tmp_path: Path) -> None:
    name = awkward_topic(broker.bootstrap)
    old = read_truth(broker.bootstrap, [name])
    world = World(old)
    two_batches(world)
    recreate(broker, name)
    world.truth = read_truth(broker.bootstrap, [name])
    world.batch("forward-1-3", {0: (0, 4), 1: (0, 4)})
    world.truth = world.truth.remembering(old)
    assert verdict_on(world, tmp_path).invariants == {9}
    world.steps = []
    for partition in (0, 1):
        world.lose(partition, 0, 0)
    assert verdict_on(world, tmp_path).exact


def recreate(broker: Broker, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.delete_topics([name], operation_timeout=15)[name].result(timeout=15)
    deadline = time.monotonic() + 15
    while name in admin.list_topics(timeout=5).topics and time.monotonic() < deadline:
        time.sleep(0.1)
    create(broker.bootstrap, name)
    settings = {"bootstrap.servers": broker.bootstrap, "transactional.id": f"{name}-again"}
    producer = Producer(settings | {"log_level": 0})
    producer.init_transactions(30)
    send(producer, name, range(10, 13))
