"""A refresh that is killed, frozen or doubled at any step: the next one makes the state right."""

from __future__ import annotations

import json
import signal

import pytest

from tests.faults.striking import BOTH_PLACES, Faulty, frozen, strike
from tests.worlds.pipelines import Installed
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]
STATE = {"key": ["id"], "deleted_when": "v = 'gone'"}
REBUILD = ("rebuild", "--execute")
KILLED = -signal.SIGKILL
# On a server a client's death inside the commit leaves the statement to the server.
STEPS = ("state span known", "state created", "state computed", "state committed")
PLACES = [
    *(("own", point) for point in (*STEPS, "state files written", "state reply lost")),
    *(("server", point) for point in ("state computed", "state files written", "state committed")),
]


def keyed(faulty: Faulty) -> Installed:
    """A pipeline whose state stands behind its log: keys 0 to 4 are to be inserted."""
    made = faulty(format={"type": "json", "schema": "id BIGINT, v STRING"}, state=STATE)
    put(made, *((key, "a") for key in range(5)))
    return made


def put(trips: Installed, *rows: tuple[int, str]) -> None:
    sent = [json.dumps({"id": key, "v": value}).encode() for key, value in rows]
    produce(trips.bootstrap, trips.topics[0], sent)


def is_right(trips: Installed) -> None:
    trips.judge_state(deletes=lambda row: row["v"] == "gone")
    trips.judge()


@pytest.mark.parametrize(("place", "point"), PLACES, indirect=["place"])
def test_a_refresh_that_is_killed_is_made_by_the_next_run(
    faulty: Faulty, place: str, point: str
) -> None:
    trips = keyed(faulty)
    if point != "state created":
        # So that the span is one that rows are compared for.
        assert trips.process("run").returncode == 0
        put(trips, (0, "b"), (1, "gone"), (7, "new"))
    done = strike(trips, point, "kill")
    assert done.returncode == KILLED, done.stderr
    if trips.server:
        # What hangs in a commit holds Delta's lock on the table in that JVM: it lands late.
        (trips.folder / "commit-goes-on").touch()
    assert trips.process("run").returncode == 0
    is_right(trips)


@BOTH_PLACES
def test_a_refresh_whose_reply_is_lost_finds_its_own_commit(faulty: Faulty, place: str) -> None:
    trips = keyed(faulty)
    assert trips.process("run").returncode == 0
    put(trips, (0, "b"), (7, "new"))
    done = strike(trips, "state reply lost", "raise")
    assert done.returncode == 0, done.stderr
    assert "committed although Spark reported" in done.stderr
    is_right(trips)


@BOTH_PLACES
def test_a_zombie_that_wakes_inside_its_commit_lands_nothing_that_is_older(
    faulty: Faulty, place: str
) -> None:
    trips = keyed(faulty)
    assert trips.process("run").returncode == 0
    put(trips, (0, "b"), (1, "gone"))
    zombie, jvm = frozen(trips, "state files written")
    put(trips, (0, "c"), (1, "back"), (2, "gone"))
    if place == "own":
        assert trips.process("run").returncode == 0
        is_right(trips)
    jvm.resume()
    zombie.end()
    assert trips.process("run").returncode == 0
    is_right(trips)


@pytest.mark.parametrize("point", ["state given up", "state computed", "state committed"])
def test_a_rebuild_that_is_killed_is_completed_by_the_next(faulty: Faulty, point: str) -> None:
    trips = keyed(faulty)
    assert trips.process("run").returncode == 0
    trips.write_spec(state={**STATE, "deleted_when": "v = 'a'"})
    assert trips.process("run").returncode == 1
    done = strike(trips, point, "kill", REBUILD)
    assert done.returncode == KILLED, done.stderr
    assert trips.process("rebuild", "--execute").returncode == 0
    assert trips.process("run").returncode == 0
    trips.judge_state(deletes=lambda row: row["v"] == "a", anew=True)
