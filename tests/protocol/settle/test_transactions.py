"""Transactions: only what is committed arrives, and every marker is accounted for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from local.embedded.waiting import until
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import end, numbered, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


DYING_PRODUCER = """
import sys
from confluent_kafka import Producer
producer = Producer({"bootstrap.servers": sys.argv[1], "transactional.id": sys.argv[2],
                     "transaction.timeout.ms": 1000})
producer.init_transactions(30)
producer.begin_transaction()
for number in range(3):
    producer.produce(sys.argv[2], b"never committed", partition=0)
assert producer.flush(30) == 0
print("open", flush=True)
sys.stdin.read()
"""


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
    end(trips.bootstrap, name, producer, commit=True)
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
    end(trips.bootstrap, name, kept, commit=True, partitions=2)
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
    end(trips.bootstrap, name, producer, commit=True)
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (3, 10)}
    assert gaps(trips, "forward-1-2") == (1, 0)
    assert trips.judge().facts.rows == 9


def test_a_batch_of_nothing_but_a_marker(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), max_records_per_batch=3)
    producer = transactional(trips.bootstrap)
    send(producer, trips.topics[0], numbered(3))
    end(trips.bootstrap, trips.topics[0], producer, commit=True)
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (3, 4)}
    assert gaps(trips, "forward-1-2") == (1, 0)
    assert trips.judge().facts.rows == 3


def test_a_topic_of_aborted_records_only(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    producer = transactional(trips.bootstrap)
    send(producer, trips.topics[0], numbered(3))
    end(trips.bootstrap, trips.topics[0], producer, commit=False)
    trips.run()
    assert gaps(trips, "forward-1-1") == (1, 3)
    assert (trips.rows(), trips.judge().facts.committed) == ([], 1)


def test_only_the_partitions_of_an_open_transaction_are_held_back(
    topic: Topic, pipeline: Pipelines
) -> None:
    """In partition 1 it is open in the middle, in partition 2 at the tail."""
    trips = pipeline(topic(3))
    name, hanging = trips.topics[0], transactional(trips.bootstrap)
    for partition in range(3):
        produce(trips.bootstrap, name, numbered(2), partition)
    for partition in (1, 2):
        send(hanging, name, numbered(3), partition)
    for partition in (0, 1):
        produce(trips.bootstrap, name, numbered(2), partition)
    trips.run()
    assert trips.ranges() == {"forward-1-1": {"[0]": (0, 4), "[1]": (0, 2), "[2]": (0, 2)}}
    produce(trips.bootstrap, name, numbered(1))
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (4, 5), "[1]": (2, 2), "[2]": (2, 2)}
    assert not trips.plan()
    assert trips.judge().facts.rows == 9
    end(trips.bootstrap, name, hanging, commit=False, partitions=3)
    trips.run()
    assert trips.ranges()["forward-1-3"] == {"[0]": (5, 5), "[1]": (2, 8), "[2]": (2, 6)}
    assert gaps(trips, "forward-1-3") == (2, 6)
    assert trips.judge().facts.rows == 11


def test_a_batch_of_several_markers_and_nothing_else(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), max_records_per_batch=3)
    name = trips.topics[0]
    producers = [transactional(trips.bootstrap) for _ in range(3)]
    for number, producer in enumerate(producers):
        send(producer, name, numbered(1, number))
    producers[1].abort_transaction(30)
    end(trips.bootstrap, name, producers[0], producers[2], commit=True)
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (3, 6)}
    assert (gaps(trips, "forward-1-1"), gaps(trips, "forward-1-2")) == ((0, 1), (3, 0))
    assert trips.judge().facts.rows == 2


def test_transactions_that_span_batches_are_cut_without_harm(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), max_records_per_batch=6)
    name = trips.topics[0]
    kept, dropped = transactional(trips.bootstrap), transactional(trips.bootstrap)
    for number in range(5):
        send(kept, name, numbered(2, 2 * number))
        send(dropped, name, numbered(2, 100 + 2 * number))
    kept.commit_transaction(30)
    end(trips.bootstrap, name, dropped, commit=False)
    trips.run()
    assert [each["[0]"] for each in trips.ranges().values()] == [
        *((0, 6), (6, 12), (12, 18), (18, 22))
    ]
    assert [gaps(trips, batch) for batch in trips.ranges()] == [(0, 2), (0, 4), (0, 2), (2, 2)]
    assert trips.judge().facts.rows == 10


@pytest.mark.parametrize("commits", [True, False])
def test_a_transaction_that_ends_after_the_plan_belongs_to_the_next_batch(
    topic: Topic, pipeline: Pipelines, commits: bool
) -> None:
    trips = pipeline(topic())
    name = trips.topics[0]
    produce(trips.bootstrap, name, numbered(3))
    producer = transactional(trips.bootstrap)
    send(producer, name, numbered(2, first=3))
    work = trips.plan()
    end(trips.bootstrap, name, producer, commit=commits)
    produce(trips.bootstrap, name, numbered(2, first=5))
    trips.ingest(work)
    trips.settle()
    assert trips.judge(caught_up=False).facts.rows == 3
    trips.run()
    assert trips.ranges() == {"forward-1-1": {"[0]": (0, 3)}, "forward-1-2": {"[0]": (3, 8)}}
    assert gaps(trips, "forward-1-2") == (1, 0 if commits else 2)
    assert trips.judge().facts.rows == 3 + 2 + 2 * commits


def test_the_transaction_of_a_dead_producer_holds_back_until_it_times_out(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    name = trips.topics[0]
    produce(trips.bootstrap, name, numbered(2))
    command = [sys.executable, "-c", DYING_PRODUCER, trips.bootstrap, name]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as producer:
        try:
            assert producer.stdout is not None
            assert producer.stdout.readline() == "open\n"
        finally:
            producer.kill()
    produce(trips.bootstrap, name, numbered(2))
    until(lambda: trips.run() and len(trips.rows()) == 4, "the broker to abort it", 30)
    assert sum(gaps(trips, batch)[0] for batch in trips.ranges()) == 1
    assert sum(gaps(trips, batch)[1] for batch in trips.ranges()) == 3
    assert trips.judge().facts.rows == 4
