"""Samples: a few records of a topic, whole, as a client outside any group reads them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from confluent_kafka import Message
from confluent_kafka import TopicPartition as WirePartition

from sluice.broker.answers import TIMEOUT_S
from sluice.broker.client_settings import ClientSettings
from sluice.broker.port import Sample
from sluice.broker.reader import at_the_end, is_forbidden, lone_consumer, record_moment
from sluice.errors import BrokerUnavailable
from sluice.offsets.ranges import OffsetRange, TopicPartition


def read_samples(
    client: ClientSettings, wanted: Iterable[OffsetRange], at_most: int
) -> list[Sample]:
    """The first `at_most` committed records of each range, in order.

    Raises BrokerUnavailable when nothing comes for 15 s, SettingsError when the user may not read.
    """
    waiting = {each.partition: each for each in wanted if each.span}
    if not waiting:
        return []
    found: dict[TopicPartition, list[Sample]] = {each: [] for each in waiting}
    starts = {each: offsets.start for each, offsets in waiting.items()}
    with lone_consumer(client, starts) as consumer:
        heard = time.monotonic()
        while waiting:
            message = consumer.poll(0.2)
            if message is None:
                _require_patience(client, waiting, heard)
                continue
            heard = time.monotonic()
            partition = TopicPartition(message.topic() or "", message.partition())
            if is_forbidden(message):
                raise client.lacking(f"READ on topic {partition.topic}")
            if partition not in waiting or (message.error() and not at_the_end(message)):
                continue
            if _take(message, waiting[partition], found[partition], at_most):
                del waiting[partition]
                consumer.pause([WirePartition(partition.topic, partition.partition)])
    return [each for partition in sorted(found) for each in found[partition]]


def _take(message: Message, wanted: OffsetRange, found: list[Sample], at_most: int) -> bool:
    """Keep the record if it is in the range. Returns whether the partition is done."""
    if message.error():
        return True
    offset = message.offset()
    if offset < wanted.end:
        moment = record_moment(message.timestamp()[1])
        key, value, headers = message.key(), message.value(), tuple(message.headers() or ())
        found.append(Sample(wanted.partition, offset, moment, key, value, headers))
    return offset + 1 >= wanted.end or len(found) >= at_most


def _require_patience(
    client: ClientSettings, waiting: Mapping[TopicPartition, OffsetRange], heard: float
) -> None:
    if time.monotonic() - heard > TIMEOUT_S:
        raise BrokerUnavailable(
            f"{next(iter(waiting.values()))}: broker {client.bootstrap} sent nothing for"
            f" {TIMEOUT_S:g} s. Run again when it answers."
        )
