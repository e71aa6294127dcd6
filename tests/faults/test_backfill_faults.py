"""Faults in the backfill lane: the rows stay whole, and fresh data arrives."""

from __future__ import annotations

import pytest
from sluice.offsets.batches import BatchReference
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.targets import to_earliest

from tests.faults.striking import Faulty, frozen, strike
from tests.worlds.pipelines import Installed, landed
from tests.worlds.records import group_positions, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]


# Step → batches planned, committed and settled in the lane when the process is gone.
STEPS = {
    "plan durable": (1, 0, 0),
    "reading": (1, 0, 0),
    "files written": (1, 0, 0),
    "reply lost": (1, 1, 0),
    "before receipt": (1, 1, 0),
}


@pytest.fixture
def trips(faulty: Faulty) -> Installed:
    """Two batches of ten records, the first of which is to be read again."""
    return landed(faulty())


def command(trips: Installed) -> tuple[str, ...]:
    return ("reprocess", "--range", f"{trips.topics[0]}[0] [2, 12)")


def contents(trips: Installed) -> list[tuple[int, bytes]]:
    return sorted((row["_offset"], row["value"]) for row in trips.rows())


def lane(trips: Installed) -> tuple[int, int, int]:
    planned, settled = (
        sum(batch.startswith("backfill") for batch in trips.ranges(event))
        for event in ("planned", "committed")
    )
    committed = {r["_batch"] for r in trips.rows() if r["_batch"].startswith("backfill")}
    return planned, len(committed), settled


def finish(trips: Installed) -> None:
    """What the same command does when it is given again."""
    trips.ingest(planned(trips))
    trips.settle()


def planned(trips: Installed) -> BatchReference:
    asked = offset_ranges([f"{trips.topics[0]}[0] [2, 12)"])
    return trips.open().backfill(asked, "test", "pytest").work


@pytest.mark.parametrize("point", STEPS)
def test_a_killed_backfill_is_finished_by_the_next(trips: Installed, point: str) -> None:
    before = contents(trips)
    if point == "before receipt":
        trips.ingest(planned(trips))
        strike(trips, point, "kill")
    else:
        strike(trips, point, "kill", command(trips))
    assert lane(trips) == STEPS[point]
    assert contents(trips) == before
    # Fresh data does not wait for what a backfill has left.
    produce(trips.bootstrap, trips.topics[0], numbered(5, 20))
    trips.run()
    finish(trips)
    assert contents(trips)[:20] == before
    assert group_positions(trips.bootstrap, trips.group, trips.topics[0]) == [25]
    assert trips.judge().facts.rows == 25


def test_a_replacement_tries_again_when_fresh_data_came_in_between(trips: Installed) -> None:
    before = contents(trips)
    slow, jvm = frozen(trips, "files written", command(trips))
    produce(trips.bootstrap, trips.topics[0], numbered(5, 20))
    trips.run()
    # It freezes at each attempt.
    done = slow.end_thawed(jvm)
    assert (done.returncode, "DELTA_CONCURRENT_APPEND" in done.stderr) == (0, True), done.stderr
    assert lane(trips) == (1, 1, 1)
    assert contents(trips)[:20] == before
    assert trips.judge().facts.rows == 25


def test_a_zombie_of_a_closed_backfill_lane_cannot_land(trips: Installed) -> None:
    zombie, jvm = frozen(trips, "files written", command(trips))
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    trips.run()
    jvm.resume()
    done = zombie.end()
    assert (done.returncode, "backfill-1-1: superseded by a reset" in done.stderr) == (1, True)
    assert "BackfillClosed: backfill-1-1: a reset has closed them" in done.stderr
    assert {row["_batch"] for row in trips.rows()} == {"forward-2-1"}
    assert trips.judge().facts.rows == 20
