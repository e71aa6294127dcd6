"""Records for the tests: plain ones, and transactions that commit, abort or stay open."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from confluent_kafka import Producer
from confluent_kafka import TopicPartition as WirePartition
from confluent_kafka.admin import AdminClient, NewPartitions

Value = bytes | None


def numbered(count: int, first: int = 0) -> list[bytes]:
    """JSON objects that count on."""
    return [json.dumps({"id": number}).encode() for number in range(first, first + count)]


def produce(
    bootstrap: str,
    topic: str,
    values: Iterable[Value],
    partition: int = 0,
    *,
    key: bytes | None = b"k",
    headers: Sequence[tuple[str, bytes | None]] | None = None,
    timestamp: int = 0,
) -> None:
    """Produce values to one partition, and wait until all are there. `timestamp` 0 is now."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, "log_level": 0})
    send(producer, topic, values, partition, key=key, headers=headers, timestamp=timestamp)


def send(
    producer: Producer, topic: str, values: Iterable[Value], partition: int = 0, **record: Any
) -> None:
    for value in values:
        producer.produce(topic, value, partition=partition, **record)
        producer.poll(0)
    assert producer.flush(60) == 0


def transactional(bootstrap: str) -> Producer:
    """A producer with a transaction begun."""
    settings = {
        "bootstrap.servers": bootstrap,
        "transactional.id": f"test-{uuid.uuid4().hex}",
        "log_level": 0,
    }
    producer = Producer(settings)
    producer.init_transactions(30)
    producer.begin_transaction()
    return producer


def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})


def delete_records(bootstrap: str, topic: str, before: int, partition: int = 0) -> None:
    """Move the log start, as retention does."""
    wanted = WirePartition(topic, partition, before)
    for future in admin(bootstrap).delete_records([wanted], request_timeout=15).values():
        assert future.result(15).low_watermark == before


def delete_topic(bootstrap: str, topic: str) -> None:
    admin(bootstrap).delete_topics([topic], operation_timeout=15)[topic].result(20)


def add_partitions(bootstrap: str, topic: str, total: int) -> None:
    futures = admin(bootstrap).create_partitions(
        [NewPartitions(topic, total)], operation_timeout=15
    )
    futures[topic].result(20)
