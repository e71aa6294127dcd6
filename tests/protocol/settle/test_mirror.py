"""The mirror of the cursor: a group's coordinator that is only just coming is waited for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as WirePartition
from sluice.broker.cluster import KafkaCluster
from sluice.offsets.ranges import TopicPartition

from local.embedded.broker import Broker
from tests.conftest import topic_factory
from tests.worlds.records import settings_for

pytestmark = pytest.mark.integration


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Broker]:
    """A broker that no group has been on: its many partitions of offsets take a while to make."""
    many = {"offsets.topic.num.partitions": "200"}
    with Broker(tmp_path / "broker", settings=many) as running:
        yield running


def test_the_first_groups_of_a_broker_are_committed_and_read(fresh: Broker) -> None:
    cluster = KafkaCluster(settings_for(fresh.bootstrap))
    at = TopicPartition(topic_factory(fresh)(), 0)
    for group in ("first", "second", "third"):
        cluster.mirror(group, {at: 0})
    assert cluster.group_offsets("third", [at]) == {at: 0}
    fresh.kill()
    fresh.start()
    assert cluster.group_offsets("second", [at]) == {at: 0}
    cluster.mirror("first", {at: 0})
    assert cluster.group_offsets("nobody", [at]) == {at: None}


def test_offsets_of_an_open_transaction_are_not_waited_for(fresh: Broker) -> None:
    cluster = KafkaCluster(settings_for(fresh.bootstrap))
    topic = topic_factory(fresh)()
    at = TopicPartition(topic, 0)
    cluster.mirror("readers", {at: 0})
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
