"""Resets that die at their own steps, race with batches, or meet zombies of old generations."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from confluent_kafka import Consumer
from sluice.offsets.batches import BatchReference
from sluice.offsets.origin import Origin
from sluice.operations.reset.decision import decide_reset
from sluice.operations.reset.standing import read_standing
from sluice.operations.reset.targets import to_earliest
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.protocol.plan.known_logs import KnownLogs
from sluice.protocol.plan.write_plan import next_plan
from sluice.tables.offsets_appends import append_plan, append_reset

from local.embedded.waiting import until
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed
from tests.worlds.processes import PLANNING_ALONE, killed_at
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

EXECUTE = ("--execute", "--reason", "a test")
RESETTING = ("reset", "--to-earliest", *EXECUTE)
# Applied twice, a relative target would lead elsewhere.
SHIFTING = ("reset", "--shift-by", "-5", *EXECUTE)
SKIPPING = ("reset", "--skip")


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that has landed two batches of ten records."""
    return landed(pipeline(topic()))


def test_a_reset_that_was_killed_is_finished_by_the_same_command(trips: Installed) -> None:
    killed = trips.process(*SHIFTING, **killed_at("reset intended"))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (len(trips.offsets("reset_intended")), trips.offsets("reset_done")) == (2, [])
    again = trips.sluice(*SHIFTING)
    assert again.returncode == 0, again.stderr
    finished_where_it_was_to_lead(trips)


def test_a_reset_that_was_fenced_and_killed_is_finished_before_any_other(trips: Installed) -> None:
    killed = trips.process(*SHIFTING, **killed_at("fence stands"))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (len(trips.offsets("reset_intended")), trips.offsets("reset_done")) == (2, [])
    other = trips.sluice("reset", "--to-earliest", "--execute", "--reason", "another")
    assert (other.returncode, "(a test) was finished just now" in other.stderr) == (1, True)
    finished_where_it_was_to_lead(trips)


def test_a_relative_reset_that_somebody_else_has_finished_is_not_done_twice(
    trips: Installed,
) -> None:
    killed = trips.process(*SHIFTING, **killed_at("reset intended"))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not trips.open().settle("scheduled", "airflow")
    assert str(trips.plan()) == "forward-2-1"
    again = trips.sluice(*SHIFTING)
    assert (again.returncode, "this reset was done before" in again.stderr) == (1, True)
    trips.run()
    assert trips.ranges()["forward-2-1"] == {"[0]": (15, 20)}
    assert trips.judge().facts.rows == 20


def test_an_interrupted_reset_is_not_taken_for_another_one_of_the_same_reason(
    trips: Installed,
) -> None:
    killed = trips.process(*SHIFTING, **killed_at("reset intended"))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    other = trips.sluice(*RESETTING)
    assert (other.returncode, "(a test) was finished just now" in other.stderr) == (1, True)
    finished_where_it_was_to_lead(trips)


def finished_where_it_was_to_lead(trips: Installed) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(5, 20))
    trips.run()
    assert len(trips.offsets("reset_done")) == 2
    assert trips.ranges()["forward-2-1"] == {"[0]": (15, 25)}
    assert trips.judge().facts.rows == 25


def test_a_batch_that_lands_during_a_reset_is_counted(trips: Installed) -> None:
    killed = trips.process(*SHIFTING, **killed_at("reset intended"))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    # What a task that knows nothing of it was doing just then: the plan is there, the batch lands.
    lane = read_unchecked(trips.open().resources)
    assert lane.generation == 1
    produce(trips.bootstrap, trips.topics[0], numbered(5, 20))
    land_as_before(trips, lane)
    trips.run()
    closed = {row["lane"]: row["closed_at"] for row in trips.offsets("reset_done")}
    assert closed == {"forward": 3, "backfill": 0}
    assert trips.ranges()["forward-2-1"] == {"[0]": (15, 25)}
    assert trips.judge().facts.rows == 25


def land_as_before(trips: Installed, lane: LaneState) -> None:
    resources = trips.open().resources
    new = next_plan(resources, lane, KnownLogs(resources.kafka.state(resources.spec)))
    append_plan(resources.offsets.snapshot(), new, Origin("run", "pytest", datetime.now(UTC)))
    trips.ingest(BatchReference(lane.sequence, range(3, 4)))


def test_an_unfinished_plan_of_a_closed_generation_is_dead(trips: Installed) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(5, 20))
    dead = trips.plan()
    assert str(dead) == "forward-1-3"
    done = trips.sluice(*RESETTING)
    assert done.returncode == 0, done.stderr
    assert not trips.open().outstanding(dead)
    version = trips.version()
    trips.ingest(dead)
    assert trips.version() == version
    trips.run()
    assert trips.ranges()["forward-2-1"] == {"[0]": (0, 25)}
    assert trips.judge().facts.rows == 25


def test_a_skip_that_was_killed_in_its_middle_is_completed_by_the_same_command(
    trips: Installed,
) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(8, 20))
    assert str(trips.plan()) == "forward-1-3"
    first = trips.sluice(*SKIPPING, f"{trips.topics[0]}[0]@22", *EXECUTE)
    assert first.returncode == 0, first.stderr
    again = (*SKIPPING, f"{trips.topics[0]}[0]@25", *EXECUTE)
    killed = trips.process(*again, **killed_at("skip fenced"))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert "forward-3-1" not in trips.ranges()
    # What runs in between plans over both of them; nothing has landed yet.
    assert str(trips.plan()) == "forward-3-1"
    done = trips.sluice(*again)
    assert done.returncode == 0, done.stderr
    planned = {batch: where for batch, where in trips.ranges().items() if "-4-" in batch}
    assert [where["[0]"] for where in planned.values()] == [(20, 22), (23, 25), (26, 28)]
    assert "already skipped" in trips.sluice(*again).stdout
    trips.run()
    assert trips.ranges() == trips.ranges() | planned, "adopted as they were"
    assert trips.judge(skipped=frozenset({(0, 22), (0, 25)})).facts.rows == 26


def test_a_skip_as_previewed_is_completed_by_the_same_command(trips: Installed) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(8, 20))
    assert str(trips.plan()) == "forward-1-3"
    asked = (*SKIPPING, f"{trips.topics[0]}[0]@22")
    shown = json.loads(trips.sluice(*asked, "--json").stdout)["preview"]
    exactly = (*asked, *EXECUTE, "--as-previewed", shown)
    killed = trips.process(*exactly, **killed_at("skip fenced"))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    done = trips.sluice(*exactly)
    assert done.returncode == 0, done.stderr
    trips.run()
    assert trips.judge(skipped=frozenset({(0, 22)})).facts.rows == 27


def test_the_intention_that_was_written_last_is_the_one_that_counts(trips: Installed) -> None:
    """Whatever the clocks of their writers say; one command that starts over has one time."""
    resources = trips.open().resources
    standing = read_standing(resources, to_earliest.trust)
    intended = decide_reset(resources, standing, to_earliest, "a test")
    now = datetime.now(UTC)
    for forward, at in ((1, now), (2, now), (3, now - timedelta(hours=1))):
        each = replace(intended, closed_at={"forward": forward, "backfill": 0})
        append_reset(resources.offsets.snapshot(), each, Origin("run", "pytest", at))
        newest = resources.offsets.snapshot().resets().newest
        assert newest is not None
        assert newest.closed_at["forward"] == forward
        assert len(newest.cursor) == 1


def test_a_group_that_is_in_use_does_not_make_a_reset_fail(trips: Installed) -> None:
    """Kafka refuses to move it; the reset stands, says so, and is not to be repeated."""
    member = Consumer({"bootstrap.servers": trips.bootstrap, "group.id": trips.group})
    member.subscribe(trips.topics)
    try:
        until(lambda: member.poll(0.2) is not None or member.assignment(), "a member")
        done = trips.sluice(*SHIFTING)
    finally:
        member.close()
    assert done.returncode == 0, done.stderr
    assert f"consumer group {trips.group} could not follow the cursor" in done.stderr
    finished_where_it_was_to_lead(trips)


def test_resets_one_after_the_other(trips: Installed) -> None:
    for generation in (2, 3):
        done = trips.open().reset(to_earliest, "a test", "run", "pytest")
        assert done.generation == generation
    trips.run()
    assert {row["_batch"] for row in trips.rows()} == {"forward-3-1"}
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    produce(trips.bootstrap, trips.topics[0], numbered(5, 20))
    assert trips.alone(PLANNING_ALONE).returncode == 0
    trips.run()
    assert trips.judge().facts.rows == 25
