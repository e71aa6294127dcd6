"""A state table in a bucket: it follows, is killed, compacted and made anew, by the same oracle."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from local.embedded.spark_server import SparkServer
from tests.faults.striking import strike
from tests.production.worlds.bucket_pipelines import InBucket
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture
def trips(
    in_bucket: Callable[..., InBucket], topic: Callable[..., str], s3_server: SparkServer
) -> InBucket:
    """A pipeline whose state table has five keys, and three changes to follow."""
    made = in_bucket(
        topic(),
        format={"type": "json", "schema": "id BIGINT, v STRING"},
        state={"key": ["id"], "deleted_when": "v = 'gone'"},
    )
    made.server = s3_server
    put(made, *((key, "a") for key in range(5)))
    succeeds(made, "run")
    put(made, (0, "b"), (1, "gone"), (7, "new"))
    return made


def put(trips: InBucket, *rows: tuple[int, str]) -> None:
    sent = [json.dumps({"id": key, "v": value}).encode() for key, value in rows]
    produce(trips.bootstrap, trips.topics[0], sent)


def succeeds(trips: InBucket, command: str, *words: str) -> str:
    done = trips.process(command, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_right(trips: InBucket, anew: bool = False) -> None:
    trips.judge_state(deletes=lambda row: row["v"] == "gone", anew=anew)
    trips.judge()


@pytest.mark.parametrize("point", ["state computed", "state committed"])
def test_a_refresh_that_is_killed_is_made_by_the_next_run(trips: InBucket, point: str) -> None:
    assert strike(trips, point, "kill").returncode == -9
    succeeds(trips, "run")
    is_right(trips)


def test_what_operators_ask_for_works_on_a_state_in_a_bucket(trips: InBucket) -> None:
    succeeds(trips, "run")
    assert "1 deleted key not collected" in succeeds(trips, "verify")
    succeeds(trips, "maintain")
    succeeds(trips, "reset", "--to-earliest", "--reason", "a test", "--execute")
    succeeds(trips, "run")
    is_right(trips)
    succeeds(trips, "rebuild", "--execute")
    is_right(trips, anew=True)
