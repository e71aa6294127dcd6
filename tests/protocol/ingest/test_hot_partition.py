"""A large partition is read by several tasks: the same rows and the same receipts, wherever cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from sluice.lake import reading_tasks
from sluice.lake.kafka_source import read_ranges
from sluice.offsets.quarantined import RecordFilter
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.operations.backfill.replay import quarantined_records
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.targets import to_earliest

from tests.oracle import read_truth
from tests.worlds.compaction import COMPACTED, compact
from tests.worlds.pipelines import Installed, Pipelines, Topic, more
from tests.worlds.records import (
    delete_records,
    end,
    numbered,
    produce,
    send,
    settings_for,
    transactional,
)

pytestmark = [pytest.mark.integration, pytest.mark.spark]

# The tasks that run at once, as one session may pretend.
CORES = "spark.sql.leafNodeDefaultParallelism"
JSON = {"type": "json", "schema": "id BIGINT"}


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> Iterator[SparkSession]:
    """A Spark that cuts partitions of a few records."""
    monkeypatch.setattr(reading_tasks, "LEAST", 1)
    spark.conf.set(CORES, "5")
    yield spark
    spark.conf.unset(CORES)


def read(
    spark: SparkSession, trips: Installed, start: int, end: int, cores: int | None = None
) -> DataFrame:
    """Offsets of the one partition, as a batch reads them; None: with the session's own cores."""
    if cores:
        spark.conf.set(CORES, str(cores))
    wanted = OffsetRange(TopicPartition(trips.topics[0], 0), start, end)
    return read_ranges(spark, settings_for(trips.bootstrap), [wanted])


def same_wherever_cut(spark: SparkSession, trips: Installed, start: int, end: int) -> list[int]:
    """The offsets of all records; each possible cut finds the same ones, in that order."""
    whole = [row.offset for row in read(spark, trips, start, end, 1).collect()]
    for cores in range(2, end - start + 1):
        found = read(spark, trips, start, end, cores).collect()
        assert [row.offset for row in found] == whole, cores
    return whole


def tasks(records: DataFrame) -> int:
    return records.rdd.getNumPartitions()


def history(trips: Installed) -> None:
    """Committed, aborted and interleaved transactions, in batches of several records."""
    name = trips.topics[0]
    more(trips, 3)
    kept, dropped = transactional(trips.bootstrap), transactional(trips.bootstrap)
    for number in range(3):
        send(kept, name, numbered(2, 10 * number), key=b"a-%d" % number)
        send(dropped, name, numbered(2, 100 * number), key=b"b-%d" % number)
    dropped.abort_transaction(30)
    end(trips.bootstrap, name, kept, commit=True)
    alone = transactional(trips.bootstrap)
    send(alone, name, numbered(4, 40), key=b"alone")
    end(trips.bootstrap, name, alone, commit=False)


def receipts(trips: Installed) -> list[tuple[Any, ...]]:
    """What each receipt has counted."""
    counted = ("batch", "start_offset", "end_offset", "records", "quarantined", "gaps")
    kinds = ("gap_control", "gap_aborted", "gap_compacted", "gap_lost")
    return [tuple(row[each] for each in counted + kinds) for row in trips.offsets("committed")]


def alike(trips: Installed, other: Installed, spark: SparkSession) -> None:
    """A pipeline that cuts what it reads, and another one of the same topic that does not."""
    trips.run()
    spark.conf.set(CORES, "1")
    other.run()
    assert receipts(trips) == receipts(other)
    assert trips.judge().facts == other.judge().facts


def test_a_single_partition_is_read_by_as_many_tasks_as_there_are_cores(
    topic: Topic, pipeline: Pipelines, cut: SparkSession
) -> None:
    trips = pipeline(topic(), format=JSON)
    more(trips, 20)
    assert tasks(read(cut, trips, 0, 20, 1)) == 1
    assert tasks(read(cut, trips, 0, 20, 5)) == 5
    trips.run()
    assert len(list(trips.data.glob("*.parquet"))) == 5
    assert trips.judge().facts.rows == 20


def test_a_session_without_a_wish_counts_the_cores(
    topic: Topic, pipeline: Pipelines, cut: SparkSession
) -> None:
    trips = pipeline(topic())
    more(trips, 200)
    cut.conf.unset(CORES)
    assert tasks(read(cut, trips, 0, 200)) == cut.sparkContext.defaultParallelism


def test_a_small_batch_is_read_as_before(
    topic: Topic, pipeline: Pipelines, spark: SparkSession
) -> None:
    trips = pipeline(topic())
    more(trips, 20)
    assert tasks(read(spark, trips, 0, 20)) == 1


def test_a_record_alone(topic: Topic, pipeline: Pipelines, cut: SparkSession) -> None:
    trips = pipeline(topic())
    more(trips, 1)
    trips.run()
    assert trips.judge().facts.rows == 1


def test_transactions_are_cut_anywhere(
    topic: Topic, pipeline: Pipelines, cut: SparkSession
) -> None:
    """Within a committed one, within an aborted one, before and behind a marker."""
    name = topic()
    trips, other = pipeline(name), pipeline(name)
    history(trips)
    hanging = transactional(trips.bootstrap)
    send(hanging, name, numbered(2))
    more(trips, 3)
    whole = same_wherever_cut(cut, trips, 0, 22)
    assert len(whole) == 9
    cut.conf.set(CORES, "22")
    trips.run()
    cut.conf.set(CORES, "1")
    other.run()
    assert trips.ranges() == {"forward-1-1": {"[0]": (0, 22)}}
    assert receipts(trips) == receipts(other) == [("forward-1-1", 0, 22, 9, 0, 13, 3, 10, 0, 0)]
    assert trips.judge().facts == other.judge().facts
    end(trips.bootstrap, name, hanging, commit=True)
    trips.run()
    assert trips.judge().facts.rows == 14


def test_compacted_records_leave_holes_at_every_cut(
    topic: Topic, pipeline: Pipelines, cut: SparkSession
) -> None:
    name = topic(**COMPACTED)
    trips, other = pipeline(name), pipeline(name)
    history(trips)
    for number in range(4):
        produce(trips.bootstrap, name, numbered(6, number), key=b"again-%d" % (number % 2))
    more(trips, 3)
    compact(trips.bootstrap, [name])
    (truth,) = read_truth(trips.bootstrap, [name]).partitions.values()
    assert same_wherever_cut(cut, trips, 0, 49) == [at for at in truth.offsets if at < 49]
    cut.conf.set(CORES, "13")
    alike(trips, other, cut)
    assert receipts(trips)[0][8] > 0


def test_a_hole_larger_than_all_tasks_together(
    topic: Topic, pipeline: Pipelines, cut: SparkSession
) -> None:
    """Only the last task finds a record."""
    name = topic(**COMPACTED)
    trips, other = pipeline(name), pipeline(name)
    produce(trips.bootstrap, name, numbered(400), key=b"the same")
    compact(trips.bootstrap, [name])
    cut.conf.set(CORES, "16")
    alike(trips, other, cut)


def test_records_below_the_log_start_are_found_lost_as_before(
    topic: Topic, pipeline: Pipelines, cut: SparkSession
) -> None:
    name = topic()
    trips, other = (pipeline(name, on_data_loss="record") for _ in range(2))
    more(trips, 30)
    works = trips.plan(), other.plan()
    delete_records(trips.bootstrap, name, before=11)
    for each, work in zip((trips, other), works, strict=True):
        each.ingest(work)
        each.settle()
        cut.conf.set(CORES, "1")
    assert receipts(trips) == receipts(other)
    assert trips.judge().facts == other.judge().facts


def test_malformed_records_are_quarantined_replaced_and_replayed(
    topic: Topic, pipeline: Pipelines, cut: SparkSession
) -> None:
    """Each of these batches is read more than once; some of them in the backfill lane."""
    trips = pipeline(topic(), format=JSON, quarantine={"max_ratio": 0.5})
    produce(trips.bootstrap, trips.topics[0], [b"{", *numbered(9), b"{", *numbered(12), b"{"])

    def judged() -> None:
        facts = trips.judge().facts
        assert (facts.rows, facts.quarantined) == (21, 3)

    trips.run()
    judged()
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    trips.run()
    judged()
    window = offset_ranges([f"{trips.topics[0]}[0] [4, 20)"])
    for asked in (window, quarantined_records(RecordFilter())):
        trips.ingest(trips.open().backfill(asked, "run", "pytest").work)
        trips.settle()
        judged()


def test_the_large_one_of_several_partitions_is_cut(
    topic: Topic, pipeline: Pipelines, cut: SparkSession
) -> None:
    trips = pipeline(topic(3))
    more(trips, 50)
    more(trips, 2, partition=1)
    more(trips, 3, partition=2)
    trips.run()
    # At most 6 offsets for a task, half of what each of 5 cores would read.
    assert len(list(trips.data.glob("*.parquet"))) == 2 + 9
    assert trips.judge().facts.rows == 55
