"""Timestamps: many partitions are asked at once, each for its first visible record."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from confluent_kafka import Producer
from sluice.broker.reader import read_timestamps
from sluice.offsets.ranges import TopicPartition

from local.embedded.broker import Broker
from tests.worlds.records import numbered, produce, send, settings_for, transactional

pytestmark = pytest.mark.integration

DAY = datetime(2024, 5, 1, tzinfo=UTC)


def at(day: int) -> datetime:
    return DAY + timedelta(days=day)


def write(broker: Broker, name: str, partition: int, day: int, count: int = 2) -> None:
    moment = int(at(day).timestamp() * 1000)
    produce(broker.bootstrap, name, numbered(count), partition, timestamp=moment)


def test_each_partition_has_its_own_answer(broker: Broker, topic: Callable[..., str]) -> None:
    name = topic(24, retention_ms=-1)
    for number in range(0, 20, 2):
        write(broker, name, number, number, count=5_000 if number == 0 else 2)
        write(broker, name, number, number + 1)
    starts = {TopicPartition(name, number): 0 for number in range(24)}
    starts[TopicPartition(name, 2)] = 2
    starts[TopicPartition(name, 4)] = 4
    found = read_timestamps(settings_for(broker.bootstrap), starts)
    days = {number: number for number in range(0, 20, 2)} | {2: 3}
    del days[4]
    assert found == {TopicPartition(name, number): at(day) for number, day in days.items()}
    alone = [
        read_timestamps(settings_for(broker.bootstrap), {e: starts[e]}) for e in list(found)[:3]
    ]
    assert {each: when for one in alone for each, when in one.items()}.items() <= found.items()


def test_what_was_aborted_is_seen_by_a_read_uncommitted_client_alone(
    broker: Broker, topic: Callable[..., str]
) -> None:
    name = topic(2, retention_ms=-1)
    producer = transactional(broker.bootstrap)
    send(producer, name, numbered(3), 1, timestamp=int(at(0).timestamp() * 1000))
    producer.abort_transaction(30)
    write(broker, name, 1, 7)
    client, starts = settings_for(broker.bootstrap), {TopicPartition(name, n): 0 for n in (0, 1)}
    assert read_timestamps(client, starts) == {TopicPartition(name, 1): at(7)}
    uncommitted = read_timestamps(client, starts, "read_uncommitted")
    assert uncommitted == {TopicPartition(name, 1): at(0)}


def test_nothing_to_look_at_asks_nobody() -> None:
    assert read_timestamps(settings_for("127.0.0.1:1"), {}) == {}


@pytest.mark.parametrize("value", [None, b""])
def test_a_record_without_a_value_has_its_time(
    value: bytes | None, broker: Broker, topic: Callable[..., str]
) -> None:
    """A tombstone is what a compacted topic often begins with."""
    name, moment = topic(1, retention_ms=-1), int(at(3).timestamp() * 1000)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(name, value, b"key", partition=0, timestamp=moment)
    producer.flush()
    start = {TopicPartition(name, 0): 0}
    assert read_timestamps(settings_for(broker.bootstrap), start) == {
        TopicPartition(name, 0): at(3)
    }
