"""Group offsets: what a consumer group has committed. Read and committed without joining it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as WirePartition

from sluice.broker.answers import TIMEOUT_S, Asked, Refusals, ask
from sluice.broker.client_settings import ClientSettings
from sluice.offsets.ranges import TopicPartition

log = logging.getLogger(__name__)


def read_group_offsets(
    client: ClientSettings, group: str, partitions: Iterable[TopicPartition]
) -> Mapping[TopicPartition, int]:
    """The committed offsets of a consumer group, where it has any. Raises as `ask` does."""
    wanted = [WirePartition(each.topic, each.partition) for each in partitions]
    # Not the admin client's list_consumer_group_offsets: librdkafka ends the process by a null
    # pointer when the broker answers "not coordinator" there (librdkafka issue 5040).
    answer = _asked_as(client, group, lambda consumer: consumer.committed(wanted, TIMEOUT_S))
    return {TopicPartition(e.topic, e.partition): e.offset for e in answer if e.offset >= 0}


def commit_group_offsets(
    client: ClientSettings, group: str, offsets: Mapping[TopicPartition, int]
) -> None:
    """Commit offsets for a consumer group. Raises as `ask` does."""
    wanted = [WirePartition(each.topic, each.partition, end) for each, end in offsets.items()]
    _asked_as(client, group, lambda each: each.commit(offsets=wanted, asynchronous=False))


def _asked_as(
    client: ClientSettings, group: str, question: Callable[[Consumer], list[WirePartition]]
) -> list[WirePartition]:
    refusals = Refusals()
    own = {
        "group.id": group,
        "enable.auto.commit": False,
        # Else it waits for an open transaction that commits the group's offsets (KIP-447).
        "isolation.level": "read_uncommitted",
        "reconnect.backoff.ms": 20,  # Half of it passes before the coordinator is sought again.
        "error_cb": refusals,
    }
    consumer = Consumer({**client.librdkafka(), **own}, logger=log)
    try:
        asked = Asked(client.connection, client.bootstrap, refusals, lambda: consumer.poll(0))
        needs = f"READ on group {group} and on the topics"
        answer: list[WirePartition] = ask(asked, lambda: _checked(question(consumer)), needs)
        return answer
    finally:
        consumer.close()


def _checked(answer: list[WirePartition]) -> list[WirePartition]:
    """A group's answer. Raises KafkaException for a single partition's error, too."""
    for each in answer:
        if each.error is not None:
            raise KafkaException(each.error)
    return answer
