"""Real SIGKILLs along the protocol: whatever line dies, the next run makes the table exact."""

from __future__ import annotations

import signal
from collections.abc import Callable

import psutil
import pytest

from local.embedded.broker import Broker
from tests.worlds.pipelines import (
    PLANNING_ALONE,
    SETTLING_ALONE,
    Installed,
    Run,
    killed_at,
    no_spark,
    until,
)
from tests.worlds.records import group_positions, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

KILLED = -signal.SIGKILL
NOWHERE = -1001
PARTITIONS = 8
MANY = 3_000

Topic = Callable[..., str]
Pipelines = Callable[..., Installed]


@pytest.fixture
def trips(broker: Broker, topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline with ten unread records."""
    made = pipeline(topic())
    more(made, 10)
    return made


def more(trips: Installed, count: int, first: int = 0) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(count, first))


@pytest.mark.parametrize("point", ["before planning", "offsets listed"])
def test_killed_before_the_plan_is_durable_nothing_has_happened(
    trips: Installed, point: str
) -> None:
    assert trips.alone(PLANNING_ALONE, **killed_at(point)).returncode == KILLED
    assert (trips.ranges(), trips.version()) == ({}, None)
    more(trips, 5, first=10)
    trips.run()
    assert trips.ranges() == {"forward-1-1": {"[0]": (0, 15)}}
    assert trips.judge().facts.rows == 15


def test_killed_with_a_durable_plan_the_next_run_adopts_its_very_ranges(trips: Installed) -> None:
    assert trips.alone(PLANNING_ALONE, **killed_at("plan durable")).returncode == KILLED
    assert trips.ranges() == {"forward-1-1": {"[0]": (0, 10)}}
    assert trips.version() is None
    more(trips, 5, first=10)
    trips.run()
    expected = {"forward-1-1": {"[0]": (0, 10)}, "forward-1-2": {"[0]": (10, 15)}}
    assert trips.ranges() == expected == trips.ranges("committed")
    assert trips.judge().facts.rows == 15


def stopped_in_its_write(trips: Installed) -> tuple[Run, psutil.Process]:
    """A run whose JVM is frozen while it writes: files are there, the commit is not."""
    run = trips.start("run")
    jvm = run.jvm()
    until(lambda: list(trips.data.glob("*.parquet")), "a data file", 120, pause=0.001)
    jvm.suspend()
    # One task after the other writes a file for each partition; after that comes the commit.
    assert len(list(trips.data.glob("*.parquet"))) < PARTITIONS
    assert (trips.version(), trips.rows()) == (0, [])
    return run, jvm


@pytest.fixture
def wide(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that writes for a while: many records in partitions that are read in turn."""
    made = pipeline(topic(PARTITIONS), spark={"spark.master": "local[1]"})
    for partition in range(PARTITIONS):
        produce(made.bootstrap, made.topics[0], numbered(MANY), partition)
    return made


def exact_after_the_write_was_cut(wide: Installed) -> None:
    assert wide.ranges("committed") == {}
    planned = wide.ranges()
    wide.run()
    assert wide.ranges() == planned == wide.ranges("committed")
    assert wide.judge().facts.rows == PARTITIONS * MANY


def test_killed_in_the_middle_of_the_write_with_its_jvm(wide: Installed) -> None:
    run, jvm = stopped_in_its_write(wide)
    run.kill()
    jvm.kill()
    assert run.end().returncode == KILLED
    assert wide.rows() == []
    exact_after_the_write_was_cut(wide)


def test_only_the_jvm_is_killed_in_the_middle_of_the_write(wide: Installed) -> None:
    run, jvm = stopped_in_its_write(wide)
    jvm.kill()
    done = run.end()
    assert done.returncode == 1
    assert "SparkFailed: forward-1-1: not committed" in done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert wide.rows() == []
    exact_after_the_write_was_cut(wide)


def test_a_jvm_that_outlives_its_killed_run_does_no_harm(wide: Installed) -> None:
    run, jvm = stopped_in_its_write(wide)
    run.kill()
    jvm.resume()
    exact_after_the_write_was_cut(wide)
    assert run.end().returncode == KILLED
    assert wide.judge().facts.rows == PARTITIONS * MANY


def test_killed_after_the_commit_nothing_is_read_or_written_again(trips: Installed) -> None:
    assert trips.sluice("run", **killed_at("commit landed")).returncode == KILLED
    version = trips.version()
    assert len(trips.rows()) == 10
    assert trips.ranges("committed") == {}
    trips.session = no_spark
    assert [event["batch"] for event in trips.run()] == ["forward-1-1"]
    assert trips.version() == version
    assert trips.judge().facts.rows == 10


def test_killed_between_quarantine_and_data(topic: Topic, pipeline: Pipelines) -> None:
    form = {"type": "json", "schema": "id BIGINT"}
    trips = pipeline(topic(), format=form, quarantine={"max_ratio": 0.5})
    produce(trips.bootstrap, trips.topics[0], [*numbered(4), b"{broken", *numbered(2)])
    assert trips.sluice("run", **killed_at("quarantine written")).returncode == KILLED
    assert trips.rows() == []
    assert [row["_offset"] for row in trips.quarantined()] == [4]
    trips.run()
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined, len(trips.quarantined())) == (6, 1, 1)


@pytest.mark.parametrize(
    ("point", "receipts", "position"),
    [("before receipt", 0, NOWHERE), ("before mirror", 2, NOWHERE), ("after mirror", 2, 10)],
)
def test_killed_while_settling_the_next_run_writes_what_is_missing(
    trips: Installed, point: str, receipts: int, position: int
) -> None:
    trips.write_spec(max_records_per_batch=6)
    trips.ingest(trips.plan())
    version = trips.version()
    assert trips.alone(SETTLING_ALONE, **killed_at(point)).returncode == KILLED
    assert len(trips.offsets("committed")) == receipts
    assert group_positions(trips.bootstrap, trips.group, trips.topics[0]) == [position]
    trips.session = no_spark
    trips.run()
    assert len(trips.offsets("committed")) == 2
    assert group_positions(trips.bootstrap, trips.group, trips.topics[0]) == [10]
    assert trips.version() == version
    assert trips.judge().facts.rows == 10
