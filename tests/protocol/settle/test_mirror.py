"""The mirror of the cursor: it waits for a group's coordinator, and decides nothing."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as WirePartition
from sluice.broker.cluster import KafkaCluster
from sluice.broker.port import NamedTopics, TopicEnd
from sluice.offsets.ranges import TopicPartition

from local.embedded.broker import Broker
from local.embedded.waiting import until
from tests.conftest import lands_without_spark, topic_factory
from tests.worlds.pipelines import Installed, Pipelines, Topic, more, no_spark
from tests.worlds.records import group_positions, settings_for

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Broker]:
    """A broker that no group has been on: its many partitions of offsets take a while to make."""
    many = {"offsets.topic.num.partitions": "200"}
    with Broker(tmp_path / "broker", settings=many) as running:
        yield running


def mirror(cluster: KafkaCluster, group: str, at: TopicPartition, end: int = 0) -> None:
    topic_id = cluster.state(NamedTopics([at.topic])).logs[at].topic_id
    cluster.mirror(group, {at: TopicEnd(topic_id, end)})


def test_the_first_groups_of_a_broker_are_committed_and_read(fresh: Broker) -> None:
    cluster = KafkaCluster(settings_for(fresh.bootstrap))
    at = TopicPartition(topic_factory(fresh)(), 0)
    for group in ("first", "second", "third"):
        mirror(cluster, group, at)
    assert cluster.group_offsets("third", [at]) == {at: 0}
    fresh.kill()
    fresh.start()
    assert cluster.group_offsets("second", [at]) == {at: 0}
    mirror(cluster, "first", at)
    assert cluster.group_offsets("nobody", [at]) == {at: None}


def test_offsets_of_an_open_transaction_are_not_waited_for(fresh: Broker) -> None:
    cluster = KafkaCluster(settings_for(fresh.bootstrap))
    topic = topic_factory(fresh)()
    at = TopicPartition(topic, 0)
    mirror(cluster, "readers", at)
    client = {"bootstrap.servers": fresh.bootstrap}
    consumer = Consumer({**client, "group.id": "readers"})
    producer = Producer({**client, "transactional.id": "open"})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.send_offsets_to_transaction(
        [WirePartition(topic, 0, 7)], consumer.consumer_group_metadata(), 60
    )
    assert cluster.group_offsets("readers", [at]) == {at: 0}
    producer.abort_transaction(60)
    consumer.close()


@contextmanager
def in_use(trips: Installed) -> Iterator[None]:
    """Another consumer is a member of the group: Kafka refuses offsets from outside."""
    own = {"group.id": trips.group, "enable.auto.commit": False}
    member = Consumer({"bootstrap.servers": trips.bootstrap, **own})
    member.subscribe(trips.topics)
    try:
        until(lambda: member.poll(0.2) is not None or member.assignment(), "a member")
        yield
    finally:
        member.close()


def mirrored(trips: Installed) -> dict[str, object]:
    found: dict[str, object] = json.loads(trips.sluice("status", "--json").stdout)["consumer_group"]
    return found


def test_a_group_in_use_is_a_warning_and_a_count(
    topic: Topic, pipeline: Pipelines, caplog: pytest.LogCaptureFixture
) -> None:
    trips = pipeline(topic())
    more(trips, 4)
    trips.run()
    at_the_cursor = {"group": trips.group, "partitions": 0, "behind": 0, "ahead": 0}
    assert mirrored(trips) == {**at_the_cursor, "unknown": None}
    more(trips, 6, 4)
    with in_use(trips), caplog.at_level(logging.WARNING):
        trips.ingest(trips.plan())
        settled = trips.settle()
    assert [str(each.batch) for each in settled.receipts] == ["forward-1-2"]
    warnings = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    (warning,) = (each for each in warnings if trips.group in each)
    assert "could not follow the cursor" in warning
    assert "the next run moves it" in warning
    assert mirrored(trips) == {**at_the_cursor, "partitions": 1, "behind": 6, "unknown": None}
    told = f"consumer group {trips.group}: 6 offsets behind the cursor, in 1 partition."
    assert told in trips.sluice("status").stdout
    trips.settle()
    assert group_positions(trips.bootstrap, trips.group, trips.topics[0]) == [10]
    assert trips.judge().facts.rows == 10


@pytest.fixture
def without_coordinators(tmp_path: Path) -> Iterator[Broker]:
    """A broker that waits for others before it makes the topic of group offsets."""
    with Broker(tmp_path / "broker", settings={"offsets.topic.replication.factor": "3"}) as running:
        yield running


def test_a_group_without_a_coordinator_is_a_warning_and_unknown(
    without_coordinators: Broker, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    name = topic_factory(without_coordinators)()
    written = lands_without_spark(request.node)
    session = no_spark if written else partial(request.getfixturevalue, "spark")
    trips = Installed(tmp_path, without_coordinators.bootstrap, [name], session, written=written)
    trips.write_spec()
    more(trips, 4)
    assert len(trips.run()) == 1
    found = mirrored(trips)
    assert (found["behind"], found["partitions"]) == (None, None)
    assert without_coordinators.bootstrap in str(found["unknown"])
    assert trips.judge(group=None).facts.rows == 4
