"""Compaction: what the log cleaner has removed is a gap of its own kind, whenever it was."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from confluent_kafka import Producer
from sluice.operations.reset.targets import to_earliest

from tests.oracle import KafkaTruth, read_truth
from tests.worlds.compaction import COMPACTED, compact
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_records, end, numbered, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

Counts = tuple[int, int, int]

TRIPS = 40
POLICIES = ["compact", "compact,delete"]


def write(trips: Installed, count: int = TRIPS, *, keys: int = 10) -> None:
    """Records whose keys come again and again; every ninth is a tombstone."""
    producer = Producer({"bootstrap.servers": trips.bootstrap, "log_level": 0})
    for number, value in enumerate(numbered(count)):
        record = None if number % 9 == 8 else value
        send(producer, trips.topics[0], [record], key=b"key-%d" % (number % keys))


def counts(trips: Installed) -> dict[str, Counts]:
    """Batch → records, gaps by compaction, and all other gaps."""
    return {
        row["batch"]: (
            row["records"],
            row["gap_compacted"],
            row["gap_control"] + row["gap_aborted"] + row["gap_lost"],
        )
        for row in trips.offsets("committed")
    }


def left_below(trips: Installed, end: int) -> int:
    """Records of partition 0 that Kafka still holds below an offset."""
    found = read_truth(trips.bootstrap, trips.topics).partitions
    (offsets,) = (each.offsets for (_, number), each in found.items() if number == 0)
    return int((offsets < end).sum())


def first_records(truth: KafkaTruth, count: int) -> KafkaTruth:
    """What a batch has read before the cleaner came."""
    partitions = truth.partitions.items()
    return KafkaTruth({at: replace(p, records=p.records.slice(0, count)) for at, p in partitions})


@pytest.mark.parametrize("policy", POLICIES)
def test_what_was_compacted_before_the_plan_is_a_gap(
    topic: Topic, pipeline: Pipelines, policy: str
) -> None:
    trips = pipeline(topic(**COMPACTED | {"cleanup_policy": policy}))
    write(trips)
    compact(trips.bootstrap, trips.topics)
    if policy != "compact":
        delete_records(trips.bootstrap, trips.topics[0], before=TRIPS - 5)
    trips.run()
    (span,) = (end - start for start, end in trips.ranges()["forward-1-1"].values())
    left = left_below(trips, TRIPS + 2)
    assert left < span
    assert counts(trips) == {"forward-1-1": (left, span - left, 0)}
    assert trips.judge().facts.rows == left


def test_what_is_compacted_between_plan_and_ingest_is_a_gap(
    topic: Topic, pipeline: Pipelines
) -> None:
    """Of three planned batches the first is committed before, and keeps what it has read."""
    trips = pipeline(topic(**COMPACTED), max_records_per_batch=TRIPS // 2)
    write(trips)
    write(trips, TRIPS // 2)
    first = first_records(read_truth(trips.bootstrap, trips.topics), TRIPS // 2)
    work = trips.plan()
    assert work.batches == range(1, 4)
    trips.ingest(replace(work, batches=range(1, 2)))
    compact(trips.bootstrap, trips.topics)
    left = left_below(trips, TRIPS)
    trips.ingest(work)
    trips.settle()
    found = counts(trips)
    assert found["forward-1-1"] == (20, 0, 0)
    assert (left, found["forward-1-2"]) == (0, (0, 20, 0))
    assert sum(found["forward-1-3"]) == 20
    trips.run()
    assert trips.judge(remembered=first).facts.rows == len(trips.rows()) > 20


def test_transactions_on_a_compacted_topic_add_up(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(**COMPACTED))
    name = trips.topics[0]
    for commit in (True, False, True):
        producer = transactional(trips.bootstrap)
        for number in range(12):
            send(producer, name, numbered(1, number), key=b"key-%d" % (number % 4))
        end(trips.bootstrap, name, producer, commit=commit)
    work = trips.plan()
    compact(trips.bootstrap, trips.topics)
    trips.ingest(work)
    trips.settle()
    ((records, compacted, others),) = counts(trips).values()
    assert (records + compacted + others, records) == (39, left_below(trips, 39))
    assert compacted > 0
    trips.run()
    trips.judge()


def test_a_rewind_keeps_the_rows_whose_records_were_compacted_since(
    topic: Topic, pipeline: Pipelines
) -> None:
    """Of one partition, while those beside it still hold records with the same offsets."""
    trips = pipeline(topic(3, **COMPACTED))
    write(trips)
    for number, value in product((1, 2), numbered(TRIPS)):
        produce(trips.bootstrap, trips.topics[0], [value], number, key=value)
    trips.run()
    assert len(trips.rows()) == 3 * TRIPS
    compact(trips.bootstrap, trips.topics)
    left = left_below(trips, TRIPS)
    assert left < TRIPS
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    trips.run()
    rows = [row for row in trips.rows() if row["_offset"] < TRIPS]
    kept = {(row["_partition"], row["_offset"]) for row in rows}
    assert kept == set(product(range(3), range(TRIPS))), "nothing is gone"
    read_again = [row for row in rows if row["_batch"] == "forward-2-1"]
    assert (len(read_again), len(rows)) == (left + 2 * TRIPS, 3 * TRIPS)
    receipts = (row for row in trips.offsets("committed") if row["batch"] == "forward-2-1")
    gone = [row["gap_compacted"] for row in receipts]
    assert (gone[0] > 0, gone[1:]) == (True, [0, 0])
    trips.judge()
