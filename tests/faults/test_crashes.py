"""Real SIGKILLs in the middle of a write: no row is there before the commit, and none twice."""

from __future__ import annotations

import signal

import psutil
import pytest

from local.embedded.waiting import until
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.processes import Run
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

KILLED = -signal.SIGKILL
PARTITIONS = 8
MANY = 3_000


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
