"""Transactions: only what is committed arrives, and every marker is accounted for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.integration.pipelines import Installed
from tests.integration.records import numbered, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.spark]

Topic = Callable[..., str]
Pipelines = Callable[..., Installed]


def gaps(trips: Installed, batch: str) -> tuple[int, int]:
    """Markers and aborted records of a batch, as its receipt has them."""
    rows = [row for row in trips.offsets("committed") if row["batch"] == batch]
    return sum(row["gap_control"] for row in rows), sum(row["gap_aborted"] for row in rows)


def test_nothing_of_an_aborted_transaction_arrives(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    name = trips.topics[0]
    producer = transactional(trips.bootstrap)
    send(producer, name, numbered(4))
    producer.abort_transaction(30)
    producer.begin_transaction()
    send(producer, name, numbered(3, first=4))
    producer.commit_transaction(30)
    trips.run()
    assert gaps(trips, "forward-1-1") == (2, 4)
    assert trips.judge().facts.rows == 3


def test_interleaved_transactions_are_told_apart(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(2), max_records_per_batch=5)
    name = trips.topics[0]
    kept, dropped = transactional(trips.bootstrap), transactional(trips.bootstrap)
    for number in range(3):
        for partition in (0, 1):
            send(kept, name, numbered(2, number), partition)
            send(dropped, name, numbered(1, 100 + number), partition)
            produce(trips.bootstrap, name, numbered(1, 200 + number), partition)
    dropped.abort_transaction(30)
    kept.commit_transaction(30)
    trips.run()
    total = [gaps(trips, batch) for batch in trips.ranges()]
    assert tuple(map(sum, zip(*total, strict=True))) == (4, 6)
    assert trips.judge().facts.rows == 18


def test_a_plan_stops_at_the_last_stable_offset(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    name = trips.topics[0]
    produce(trips.bootstrap, name, numbered(3))
    producer = transactional(trips.bootstrap)
    send(producer, name, numbered(2, first=3))
    produce(trips.bootstrap, name, numbered(4, first=5))
    trips.run()
    assert trips.ranges() == {"forward-1-1": {"[0]": (0, 3)}}
    # The oracle's end is the LSO, too: with the transaction open, nothing more can be read.
    assert trips.judge().facts.rows == 3
    producer.commit_transaction(30)
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (3, 10)}
    assert gaps(trips, "forward-1-2") == (1, 0)
    assert trips.judge().facts.rows == 9


def test_a_batch_of_nothing_but_a_marker(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), max_records_per_batch=3)
    producer = transactional(trips.bootstrap)
    send(producer, trips.topics[0], numbered(3))
    producer.commit_transaction(30)
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (3, 4)}
    assert gaps(trips, "forward-1-2") == (1, 0)
    assert trips.judge().facts.rows == 3


def test_a_topic_of_aborted_records_only(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    producer = transactional(trips.bootstrap)
    send(producer, trips.topics[0], numbered(3))
    producer.abort_transaction(30)
    trips.run()
    assert gaps(trips, "forward-1-1") == (1, 3)
    assert (trips.rows(), trips.judge().facts.committed) == ([], 1)
