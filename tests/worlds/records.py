"""Records for the tests: plain ones, and transactions that commit, abort or stay open."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from aiokafka import AIOKafkaProducer
from confluent_kafka import Consumer, IsolationLevel, Producer
from confluent_kafka import TopicPartition as WirePartition
from confluent_kafka.admin import AdminClient, NewPartitions, OffsetSpec
from sluice.broker.answers import Addressee, Refusals, ask
from sluice.broker.client_settings import ClientSettings

READ_COMMITTED, READ_UNCOMMITTED = IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED

Value = bytes | None


def numbered(count: int, first: int = 0) -> list[bytes]:
    """Numbered JSON objects."""
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
    """Produce values to one partition, and wait for delivery. `timestamp` 0 is now."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, "log_level": 0})
    send(producer, topic, values, partition, key=key, headers=headers, timestamp=timestamp)


def produce_at(bootstrap: str, topic: str, moments: Sequence[int]) -> None:
    """Records with exactly these timestamps: librdkafka takes 0 and -1 for "now"."""

    async def go() -> None:
        async with AIOKafkaProducer(bootstrap_servers=bootstrap, linger_ms=50) as producer:
            sent = [
                await producer.send(topic, b'{"id": 1}', partition=0, timestamp_ms=moment)
                for moment in moments
            ]
            for each in sent:
                await each

    asyncio.run(go())


def send(
    producer: Producer, topic: str, values: Iterable[Value], partition: int = 0, **record: Any
) -> None:
    for value in values:
        producer.produce(topic, value, partition=partition, **record)
        producer.poll(0)
    assert producer.flush(60) == 0


def transactional(bootstrap: str, **more: object) -> Producer:
    """A producer that has begun a transaction."""
    settings = {
        "bootstrap.servers": bootstrap,
        "transactional.id": f"test-{uuid.uuid4().hex}",
        "log_level": 0,
        **more,
    }
    producer = Producer(settings)
    producer.init_transactions(30)
    producer.begin_transaction()
    return producer


def end(
    bootstrap: str, topic: str, *producers: Producer, commit: bool, partitions: int = 1
) -> None:
    """End transactions one by one; return when they no longer hold any partition back."""
    for producer in producers:
        producer.commit_transaction(30) if commit else producer.abort_transaction(30)
    wait_for_markers(bootstrap, topic, partitions)


def wait_for_markers(bootstrap: str, topic: str, partitions: int = 1) -> None:
    """Wait until no transaction is open: the broker answers before it has written the markers."""
    asked = [WirePartition(topic, number) for number in range(partitions)]
    client, deadline = admin(bootstrap), time.monotonic() + 30
    while _ends(client, asked, READ_COMMITTED) != _ends(client, asked, READ_UNCOMMITTED):
        assert time.monotonic() < deadline, "a transaction is still open"
        time.sleep(0.02)


def _ends(client: AdminClient, asked: list[WirePartition], isolation: IsolationLevel) -> list[int]:
    wanted = dict.fromkeys(asked, OffsetSpec.latest())
    answers = client.list_offsets(wanted, isolation_level=isolation, request_timeout=15)
    return [answers[each].result(15).offset for each in asked]


def settings_for(bootstrap: str, **extra: str) -> ClientSettings:
    """The product's client settings for this broker."""
    return ClientSettings.from_extra("kafka_default", {"bootstrap.servers": bootstrap, **extra})


def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})


def delete_records(bootstrap: str, topic: str, before: int, partition: int = 0) -> None:
    """Move the log start, as retention does."""
    client = admin(bootstrap)
    wanted = WirePartition(topic, partition, before)
    for future in client.delete_records([wanted], request_timeout=15).values():
        assert future.result(15).low_watermark == before


def delete_topic(bootstrap: str, topic: str) -> None:
    client = admin(bootstrap)
    client.delete_topics([topic], operation_timeout=15)[topic].result(20)


def add_partitions(bootstrap: str, topic: str, total: int) -> None:
    client = admin(bootstrap)
    asked = [NewPartitions(topic, total)]
    client.create_partitions(asked, operation_timeout=15)[topic].result(20)


def _asked(bootstrap: str) -> Addressee:
    return Addressee(settings_for(bootstrap), Refusals(), lambda: None)


def group_positions(bootstrap: str, group: str, topic: str, partitions: int = 1) -> list[int]:
    """The committed offsets of a consumer group; -1001 if there is none."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "log_level": 0})
    try:
        asked = [WirePartition(topic, number) for number in range(partitions)]
        # A new broker has no coordinator until it has made its offsets topic.
        answers = ask(_asked(bootstrap), lambda: consumer.committed(asked, timeout=15))
        return [found.offset for found in answers]
    finally:
        consumer.close()


def set_group(bootstrap: str, group: str, topic: str, offset: int) -> None:
    """Commit an offset of partition 0 for a consumer group."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "log_level": 0})
    try:
        wanted = [WirePartition(topic, 0, offset)]
        ask(_asked(bootstrap), lambda: consumer.commit(offsets=wanted, asynchronous=False))
    finally:
        consumer.close()
