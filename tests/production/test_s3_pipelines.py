"""A pipeline whose warehouse is in a bucket: every step killed, every command, the same oracle."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from local.embedded.spark_server import SparkServer
from tests.faults.striking import strike
from tests.production.worlds.bucket_pipelines import InBucket
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

# One of the ten cannot be decoded.
VALUES = [*numbered(4), b"{broken", *numbered(5, 5)]
JSON = {"type": "json", "schema": "id BIGINT"}
POINTS = (
    *("offsets listed", "plan durable", "spark started", "reading", "quarantine written"),
    *("commit landed", "before receipt", "before mirror", "after mirror"),
)


@pytest.fixture
def trips(
    in_bucket: Callable[..., InBucket], topic: Callable[..., str], s3_server: SparkServer
) -> InBucket:
    """A pipeline with ten unread records, one of them malformed."""
    made = in_bucket(topic(), format=JSON, quarantine={"max_ratio": 0.5})
    made.server = s3_server
    produce(made.bootstrap, made.topics[0], VALUES)
    return made


def succeeds(trips: InBucket, command: str, *words: str) -> str:
    done = trips.process(command, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("point", POINTS)
def test_a_run_that_is_killed_leaves_nothing_that_the_next_does_not_finish(
    trips: InBucket, point: str
) -> None:
    if point in ("before receipt", "before mirror", "after mirror"):
        trips.process("run", SLUICE_TEST="1", SLUICE_FAILPOINT="commit landed: kill")
    assert strike(trips, point, "kill").returncode == -9
    succeeds(trips, "run")
    assert (trips.version(), trips.judge().facts.rows) == (1, 9)
    assert len(trips.quarantined()) == 1


@pytest.mark.parametrize("point", ["reset intended", "fence stands"])
def test_a_reset_that_is_killed_is_finished_by_the_next_run(trips: InBucket, point: str) -> None:
    succeeds(trips, "run")
    reset = ("reset", "--shift-by", "-4", "--reason", "a test", "--execute")
    done = trips.process(*reset, SLUICE_TEST="1", SLUICE_FAILPOINT=f"{point}: kill")
    assert done.returncode == -9
    succeeds(trips, "run")
    assert trips.judge().facts.rows == 9


def test_what_operators_ask_for_works_in_a_bucket(trips: InBucket) -> None:
    succeeds(trips, "run")
    succeeds(trips, "reprocess", "--range", f"{trips.topics[0]}[0] [2, 8)")
    assert "holds   complete" in succeeds(trips, "verify")
    assert "forward-1-1" in succeeds(trips, "history")
    succeeds(trips, "maintain")
    succeeds(trips, "reset", "--to-earliest", "--reason", "a test", "--execute")
    succeeds(trips, "run")
    trips.judge()


def test_a_clustered_table_in_a_bucket_is_reset(trips: InBucket) -> None:
    """Its fence is a conditional PUT of Sluice's own."""
    trips.write_spec(cluster_by=["_offset"])
    succeeds(trips, "run")
    succeeds(trips, "reset", "--to-earliest", "--reason", "a test", "--execute")
    succeeds(trips, "run")
    assert trips.judge().facts.rows == 9


def test_a_spark_of_its_own_lands_a_batch_in_a_bucket(trips: InBucket) -> None:
    trips.server = None
    succeeds(trips, "run")
    assert trips.judge().facts.rows == 9
