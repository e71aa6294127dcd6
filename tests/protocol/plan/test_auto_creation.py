"""No question that is asked about a topic creates it, on a broker as Kafka ships it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from confluent_kafka import Producer
from sluice.broker.port import Cluster, TopicEnd
from sluice.errors import SluiceError
from sluice.offsets.ranges import OffsetRange, TopicPartition

from local.embedded.broker import Broker
from local.embedded.waiting import until
from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import delete_topic, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

Question = Callable[[Cluster, Any, TopicPartition], object]


QUESTIONS: tuple[Question, ...] = (
    lambda kafka, _, at: kafka.offsets_for_time([at], datetime.now(UTC)),
    lambda kafka, _, at: kafka.group_offsets("g", [at]),
    lambda kafka, _, at: kafka.mirror("g", {at: TopicEnd("of-a-topic-that-is-gone", 1)}),
    lambda kafka, _, at: kafka.compacting([at.topic]),
    lambda kafka, _, at: kafka.fingerprints({at: 2}),
    lambda kafka, _, at: list(kafka.raw_log(at, [(0, 2)], timeout=4, patience=1)),
    lambda kafka, _, at: kafka.samples([OffsetRange(at, 0, 2)], 1),
    lambda kafka, _, at: kafka.timestamps({at: 0}),
    lambda kafka, state, _: kafka.open_since(state.logs),
    lambda kafka, _, at: kafka.bytes_per_offset({at: 0}),
)


def test_a_producer_would_create_it(broker: Broker) -> None:
    """So these tests can fail: their broker has the default of `auto.create.topics.enable`."""
    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    name = f"made-by-asking-{time.time_ns()}"
    producer.list_topics(name, timeout=10)
    until(lambda: name in producer.list_topics(timeout=10).topics, name)


def test_nothing_that_is_asked_creates_a_topic(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    produce(trips.bootstrap, trips.topics[0], numbered(5))
    resources = trips.open().resources
    kafka, at = resources.kafka, TopicPartition(trips.topics[0], 0)
    state = kafka.state(resources.spec)
    delete_topic(trips.bootstrap, at.topic)
    with contextlib.suppress(SluiceError):
        kafka.state(resources.spec)
    for question in QUESTIONS:
        with contextlib.suppress(SluiceError):
            question(kafka, state, at)
    # A broker answers first, and creates then.
    time.sleep(2)
    assert at.topic not in kafka.topic_names()
