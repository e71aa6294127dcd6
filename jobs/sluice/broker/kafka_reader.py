"""The Kafka reader: records as a read_committed client sees them, for looking and for proof."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import Consumer, KafkaError
from confluent_kafka import TopicPartition as WirePartition

from sluice.broker.kafka_client import KafkaClient
from sluice.errors import BrokerUnavailable
from sluice.planning.ranges import OffsetRange, TopicPartition

_TIMEOUT_S = 15.0
# `consume` waits for this many records or this long, whatever comes first.
_AT_A_TIME = 10_000
_PAUSE_S = 0.2


class KafkaReader:
    """Reads records without a group: nothing is committed, no one else is disturbed."""

    def __init__(self, client: KafkaClient) -> None:
        self._client = client

    def offsets(self, wanted: OffsetRange) -> Iterator[list[int]]:
        """The offsets of the range that hold a committed record, ascending, some at a time.

        Raises BrokerUnavailable when nothing comes for 15 s.
        """
        partition = wanted.partition
        with self._consumer({partition: wanted.start}) as consumer:
            reached, heard = wanted.start, time.monotonic()
            while reached < wanted.end:
                messages = consumer.consume(_AT_A_TIME, timeout=_PAUSE_S)
                if messages:
                    heard = time.monotonic()
                elif time.monotonic() - heard > _TIMEOUT_S:
                    raise BrokerUnavailable(
                        f"{partition} [{reached}, {wanted.end}): broker {self._client.bootstrap}"
                        f" sent nothing for {_TIMEOUT_S:g} s. Run again when it answers."
                    )
                found = [each.offset() for each in messages if each.error() is None]
                if found:
                    yield [offset for offset in found if offset < wanted.end]
                    reached = found[-1] + 1
                if any(_at_the_end(each) for each in messages):
                    return

    def timestamps(self, starts: dict[TopicPartition, int]) -> dict[TopicPartition, datetime]:
        """When the first record at or after each offset was written; unknown ones are left out."""
        found: dict[TopicPartition, datetime] = {}
        for partition, offset in starts.items():
            with self._consumer({partition: offset}) as consumer:
                for each in consumer.consume(1, timeout=_TIMEOUT_S):
                    if each.error() is None and each.timestamp()[1] >= 0:
                        milliseconds = each.timestamp()[1]
                        found[partition] = datetime.fromtimestamp(milliseconds / 1000, UTC)
        return found

    @contextmanager
    def _consumer(self, starts: dict[TopicPartition, int]) -> Iterator[Any]:
        consumer = Consumer(
            {
                **self._client.librdkafka(),
                "group.id": "sluice-reader",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
            }
        )
        try:
            consumer.assign([WirePartition(e.topic, e.partition, at) for e, at in starts.items()])
            yield consumer
        finally:
            consumer.close()


def _at_the_end(message: Any) -> bool:
    error = message.error()
    return error is not None and error.code() == KafkaError._PARTITION_EOF
