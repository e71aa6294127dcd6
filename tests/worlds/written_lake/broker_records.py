"""Broker records: the committed records of a range, read with a plain consumer."""

from __future__ import annotations

import time
from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaError
from confluent_kafka import TopicPartition as WirePartition
from sluice.broker.client_settings import ClientSettings
from sluice.offsets.ranges import OffsetRange

from tests.worlds.written_lake.records import ReadRecords, Record

_PATIENCE = 30.0
_OWN = {
    "group.id": "written-lake",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "isolation.level": "read_committed",
    "auto.offset.reset": "error",
    "fetch.wait.max.ms": 20,
    "log_level": 0,
}


def broker_records(client: ClientSettings) -> ReadRecords:
    """What reads the ranges of a broker.

    Raises RuntimeError where the range's start is no longer there, or nothing comes.
    """

    def read(offsets: OffsetRange) -> Iterator[Record]:
        consumer = Consumer({**client.librdkafka(), **_OWN})
        try:
            place = offsets.partition
            consumer.assign([WirePartition(place.topic, place.partition, offsets.start)])
            yield from _read(consumer, offsets)
        finally:
            consumer.close()

    return read


def _read(consumer: Consumer, offsets: OffsetRange) -> Iterator[Record]:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is None:
            continue
        problem = message.error()
        if problem is not None and problem.code() != KafkaError._PARTITION_EOF:
            if problem.retriable() or problem.code() in _PASSING:
                continue
            raise RuntimeError(f"{offsets}: some data may have been lost: {problem.str()}")
        if (message.offset() or 0) >= offsets.end:
            return
        if problem is not None:
            continue
        deadline = time.monotonic() + _PATIENCE
        _, timestamp = message.timestamp()
        yield Record(
            offsets.partition,
            message.offset(),
            timestamp,
            message.key(),
            message.value(),
            tuple(message.headers() or ()),
        )
        if message.offset() + 1 >= offsets.end:
            return
    raise RuntimeError(f"{offsets}: some data may have been lost: nothing came")


_PASSING = {KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE}
