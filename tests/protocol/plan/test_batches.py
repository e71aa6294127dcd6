"""Batches: how a run's target is cut, adopted, passed over, and mirrored to the consumer group."""

from __future__ import annotations

import pytest

from tests.worlds.pipelines import Pipelines, Topic, more, no_spark
from tests.worlds.records import group_positions, set_group

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

NOWHERE = -1001


def test_one_plan_is_cut_into_batches_that_tile(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(3), max_records_per_batch=10)
    for partition, count in enumerate((14, 8, 0)):
        more(trips, count, partition=partition)
    work = trips.plan()
    assert work.batches == range(1, 4)
    ranges = trips.ranges()
    spans = [sum(end - start for start, end in each.values()) for each in ranges.values()]
    assert (sum(spans), max(spans)) == (22, 10)
    assert trips.open().span(work) == 22
    assert all(set(each) == {"[0]", "[1]", "[2]"} for each in ranges.values())
    trips.ingest(work)
    trips.settle()
    assert trips.ranges("committed") == ranges
    assert trips.judge().facts.rows == 22


def test_a_run_goes_on_until_it_has_caught_up(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), max_records_per_batch=2, max_batches_per_run=2)
    more(trips, 7)
    assert trips.plan().batches == range(1, 3)
    assert [event["records"] for event in trips.run()] == [2, 2, 2, 1]
    assert trips.judge().facts.rows == 7


def test_an_adopted_plan_stays_as_it_is_although_kafka_has_more(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(2))
    more(trips, 4)
    work = trips.plan()
    planned = trips.ranges()
    more(trips, 3)
    more(trips, 2, partition=1)
    trips.write_spec(max_records_per_batch=1)
    assert trips.plan() == work
    assert trips.ranges() == planned
    trips.ingest(work)
    trips.settle()
    assert trips.ranges("committed") == planned
    trips.judge(caught_up=False)


@pytest.mark.spark
def test_nothing_new_plans_nothing_and_starts_no_jvm(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    more(trips, 4)
    trips.run()
    version = trips.version()
    assert not trips.plan()
    # Where no Java is to be found, a run that wanted one would fail.
    done = trips.process("run", PATH="/nonexistent", JAVA_HOME="/nonexistent")
    assert (done.returncode, done.stdout) == (0, "trips: nothing new\n"), done.stderr
    assert (len(trips.offsets("planned")), trips.version()) == (1, version)
    assert trips.judge().facts.rows == 4


def test_a_committed_batch_is_not_outstanding_and_not_landed_again(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), max_records_per_batch=2)
    more(trips, 4)
    work = trips.plan()
    assert trips.open().outstanding(work) == work
    trips.ingest(work)
    version = trips.version()
    assert not trips.open().outstanding(work)
    # An Airflow task that is cleared: the same work once more.
    trips.ingest(work)
    assert trips.version() == version
    trips.settle()
    trips.session = no_spark
    assert not trips.run()
    assert trips.judge().facts.rows == 4


def test_the_consumer_group_follows_the_table_and_is_never_ahead(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    name = trips.topics[0]
    more(trips, 4)
    work = trips.plan()
    trips.settle()
    assert group_positions(trips.bootstrap, trips.group, name) == [NOWHERE]
    trips.ingest(work)
    assert group_positions(trips.bootstrap, trips.group, name) == [NOWHERE]
    trips.settle()
    assert group_positions(trips.bootstrap, trips.group, name) == [4]
    more(trips, 3)
    trips.plan()
    trips.settle()
    assert group_positions(trips.bootstrap, trips.group, name) == [4]
    trips.judge(caught_up=False)


def test_somebody_who_moves_the_consumer_group_moves_nothing_else(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    name = trips.topics[0]
    more(trips, 4)
    trips.run()
    set_group(trips.bootstrap, trips.group, name, 2)
    more(trips, 3)
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (4, 7)}
    assert group_positions(trips.bootstrap, trips.group, name) == [7]
    assert trips.judge().facts.rows == 7
