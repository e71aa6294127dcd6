"""Group offsets: what a consumer group has committed. Read and committed without joining it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as WirePartition

from sluice.broker.answers import TIMEOUT_S, Addressee, Refusals, ask
from sluice.broker.client_logs import LIBRDKAFKA
from sluice.broker.client_settings import ClientSettings
from sluice.offsets.ranges import TopicPartition

_Ask = Callable[[Callable[[], list[WirePartition]]], list[WirePartition]]


# Before the topic id, in the words that Kafka keeps beside a committed offset.
_TOPIC_ID = "topic id "


class GroupOffset(NamedTuple):
    """A committed offset, and the id of the topic that it is of; None where that is not said."""

    offset: int
    topic_id: str | None


# Each wait for the group's coordinator, after which the client is asked why there is none.
_STEP_S = 1.0


def read_group_offsets(
    client: ClientSettings, group: str, partitions: Iterable[TopicPartition]
) -> Mapping[TopicPartition, GroupOffset]:
    """The committed offsets of a consumer group, where it has any. Raises as `ask` does."""
    wanted = [WirePartition(each.topic, each.partition) for each in partitions]
    with _asking(client, group, "DESCRIBE") as (consumer, ask_group):
        answer = ask_group(lambda: _committed(consumer, wanted))
    return {
        TopicPartition(e.topic, e.partition): GroupOffset(e.offset, _topic_id(e.metadata))
        for e in answer
        if e.offset >= 0
    }


def commit_group_offsets(
    client: ClientSettings, group: str, offsets: Mapping[TopicPartition, GroupOffset]
) -> None:
    """Commit offsets for a consumer group. Raises as `ask` does."""
    wanted = [
        WirePartition(each.topic, each.partition, at.offset, f"{_TOPIC_ID}{at.topic_id}")
        for each, at in offsets.items()
    ]
    with _asking(client, group, "READ") as (consumer, ask_group):
        # A commit would wait without end for a coordinator that the user may not know.
        ask_group(lambda: _committed(consumer, wanted[:1]))
        ask_group(lambda: _checked(consumer.commit(offsets=wanted, asynchronous=False)))


@contextmanager
def _asking(client: ClientSettings, group: str, right: str) -> Iterator[tuple[Consumer, _Ask]]:
    refusals = Refusals()
    own = {
        "group.id": group,
        "enable.auto.commit": False,
        "allow.auto.create.topics": False,
        # Else it waits for an open transaction that commits the group's offsets (KIP-447).
        "isolation.level": "read_uncommitted",
        "reconnect.backoff.ms": 20,  # Half of it passes before the coordinator is sought again.
        "error_cb": refusals,
    }
    consumer = Consumer({**client.librdkafka(), **own}, logger=LIBRDKAFKA)
    asked = Addressee(client, refusals, lambda: consumer.poll(0))
    needs = f"{right} on group {group} and on its topics"
    try:
        yield consumer, lambda question: ask(asked, question, needs)
    finally:
        consumer.close()


def _committed(consumer: Consumer, wanted: list[WirePartition]) -> list[WirePartition]:
    """The group's offsets. Not the admin client's list_consumer_group_offsets: librdkafka ends the
    process by a null pointer when the broker answers "not coordinator" there (its issue 5040).
    """
    until = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return _checked(consumer.committed(wanted, _STEP_S))
        except KafkaException as problem:
            # Only a poll tells that the user may not know the coordinator.
            told = consumer.poll(0)
            if told is not None and told.error() is not None:
                raise KafkaException(told.error()) from None
            if problem.args[0].code() != KafkaError._TIMED_OUT or time.monotonic() > until:
                raise


def _topic_id(metadata: str | None) -> str | None:
    said = metadata or ""
    return said.removeprefix(_TOPIC_ID) if said.startswith(_TOPIC_ID) else None


def _checked(answer: list[WirePartition]) -> list[WirePartition]:
    """A group's answer. Raises KafkaException for a single partition's error, too."""
    for each in answer:
        if each.error is not None:
            raise KafkaException(each.error)
    return answer
