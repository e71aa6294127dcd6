"""The Kafka reader: records as a client outside any group sees them, for previews and proof.

It commits nothing and disturbs no other consumer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from confluent_kafka import Consumer, KafkaError
from confluent_kafka import TopicPartition as WirePartition

from sluice.broker.answers import TIMEOUT_S
from sluice.broker.client_logs import LIBRDKAFKA
from sluice.broker.client_settings import ClientSettings
from sluice.broker.port import ReadOffsets
from sluice.errors import BrokerUnavailable
from sluice.offsets.partition_log import PartitionLog
from sluice.offsets.ranges import OffsetRange, TopicPartition

# `consume` waits for this many records or this long, whichever comes first.
_AT_A_TIME = 10_000
_PAUSE_S = 0.2
_FETCH_WAIT_MS = 20


@contextmanager
def offsets_reader(client: ClientSettings) -> Iterator[ReadOffsets]:
    """A reader of one range after the other, over the same connection."""
    with lone_consumer(client, {}) as consumer:
        yield lambda wanted: _read_offsets(client, consumer, wanted)


def _read_offsets(
    client: ClientSettings, consumer: Consumer, wanted: OffsetRange
) -> Iterator[list[int]]:
    partition = wanted.partition
    consumer.assign([WirePartition(partition.topic, partition.partition, wanted.start)])
    reached, heard = wanted.start, time.monotonic()
    while reached < wanted.end:
        # It waits until there are as many, so ask for no more than there can be.
        at_most = min(_AT_A_TIME, wanted.end - reached)
        messages = consumer.consume(at_most, timeout=_PAUSE_S)
        if messages:
            heard = time.monotonic()
        elif time.monotonic() - heard > TIMEOUT_S:
            raise BrokerUnavailable(
                f"{partition} [{reached}, {wanted.end}): broker {client.bootstrap}"
                f" sent nothing for {TIMEOUT_S:g} s. Run again when it answers."
            )
        if any(is_forbidden(each) for each in messages):
            raise client.lacking(f"READ on topic {partition.topic}")
        found = [each.offset() for each in messages if each.error() is None]
        if found:
            yield [offset for offset in found if offset < wanted.end]
            reached = found[-1] + 1
        if any(at_the_end(each) for each in messages):
            return


def read_open_since(
    client: ClientSettings, logs: Mapping[TopicPartition, PartitionLog]
) -> dict[TopicPartition, datetime]:
    """Since when a transaction has been open, for partitions that have one.

    The LSO is the offset of its first record, which only a read_uncommitted client sees (KIP-98).
    """
    held_back = {
        each: log.last_stable_offset
        for each, log in logs.items()
        if log.last_stable_offset < log.end_offset
    }
    return read_timestamps(client, held_back, "read_uncommitted")


def read_timestamps(
    client: ClientSettings,
    starts: Mapping[TopicPartition, int],
    isolation: str = "read_committed",
) -> dict[TopicPartition, datetime]:
    """The timestamp of the first record at or after each offset; unknown ones are left out.

    So is every partition without an answer when nothing has come for 15 s.
    """
    found: dict[TopicPartition, datetime] = {}
    if not starts:
        return found
    with lone_consumer(client, starts, isolation) as consumer:
        waiting, heard = set(starts), time.monotonic()
        while waiting and (left := heard + TIMEOUT_S - time.monotonic()) > 0:
            message = consumer.poll(left)
            # Not by its truth: a message without a value is falsy.
            if message is None:
                continue
            partition = TopicPartition(message.topic() or "", message.partition())
            if partition not in waiting:
                continue
            waiting.remove(partition)
            heard = time.monotonic()
            # librdkafka has fetched more than the first record; pausing drops the rest.
            consumer.pause([WirePartition(partition.topic, partition.partition)])
            if not message.error() and (moment := record_moment(message.timestamp()[1])):
                found[partition] = moment
    return found


@contextmanager
def lone_consumer(
    client: ClientSettings,
    starts: Mapping[TopicPartition, int],
    isolation: str = "read_committed",
) -> Iterator[Any]:
    """A consumer outside any group, which reads on from these offsets."""
    consumer = Consumer(
        {
            **client.librdkafka(),
            "group.id": "sluice-reader",
            "enable.auto.commit": False,
            "allow.auto.create.topics": False,
            "enable.partition.eof": True,
            # At the end of one range the leader must not sit on the request for the next one.
            "fetch.wait.max.ms": _FETCH_WAIT_MS,
            "isolation.level": isolation,
        },
        logger=LIBRDKAFKA,
    )
    try:
        consumer.assign([WirePartition(e.topic, e.partition, at) for e, at in starts.items()])
        yield consumer
    finally:
        consumer.close()


def record_moment(milliseconds: int) -> datetime | None:
    """None for Kafka's "no timestamp", and for a producer's timestamp beyond year 9999."""
    try:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    except (ValueError, OverflowError):
        return None
    return moment + timedelta(milliseconds=milliseconds % 1000) if milliseconds >= 0 else None


def is_forbidden(message: Any) -> bool:
    """Whether it says that the user may not read the topic."""
    error = message.error()
    return error is not None and error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


def at_the_end(message: Any) -> bool:
    """Whether it says that the partition has nothing more to read."""
    error = message.error()
    return error is not None and error.code() == KafkaError._PARTITION_EOF
