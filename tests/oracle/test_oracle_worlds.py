"""The oracle on the rarer worlds: replace, reset, rollback, unfinished batches, maintenance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable

from local.embedded.broker import Broker
from tests.oracle import KafkaTruth, read_truth
from tests.oracle.awkward import awkward_topic
from tests.oracle.fault import FIRST, SECOND, two_batches
from tests.oracle.world import World
from tests.oracle.world_verdicts import verdict_of, verdict_on

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def truth(broker: Broker) -> KafkaTruth:
    return read_truth(broker.bootstrap, [awkward_topic(broker.bootstrap)])


@pytest.fixture
def world(truth: KafkaTruth) -> World:
    world = World(truth)
    two_batches(world)
    return world


NEW_ROWS = "_batch = 'backfill-1-1'"
KEEPS_OFFSET_2 = f"(_partition = 0 AND _offset >= 3 AND _offset < 8) OR {NEW_ROWS}"
TAKES_OFFSET_1 = f"(_partition = 0 AND _offset >= 1 AND _offset < 8) OR {NEW_ROWS}"


def backfill(world: World) -> None:
    world.batch("backfill-1-1", {0: (2, 8)}, "replace")


def rewind(world: World) -> None:
    """A reset of both partitions to offset 3, and one batch that reads all of it again."""
    world.reset(2, 2, {0: (26, 3), 1: (26, 3)})
    world.batch("forward-2-1", {0: (3, 26), 1: (3, 26)}, "replace")


def test_a_backfilled_world_is_exact(world: World, tmp_path: Path) -> None:
    backfill(world)
    verdict = verdict_on(world, tmp_path)
    assert verdict.exact, str(verdict)
    # Both batches left a quarantine row of the same record; only the newer one is live.
    assert verdict.facts.quarantined == 2


def test_a_rewound_world_is_exact(world: World, tmp_path: Path) -> None:
    rewind(world)
    verdict = verdict_on(world, tmp_path)
    assert verdict.exact, str(verdict)


def stale_row_kept(world: World) -> None:
    world.steps[-2].replaces = KEEPS_OFFSET_2


def replaced_too_much(world: World) -> None:
    world.steps[-2].replaces = TAKES_OFFSET_1


def row_left_to_its_older_batch(world: World) -> None:
    del world.steps[-2].rows[0]
    stale_row_kept(world)


def backfilled_beyond_the_cursor(world: World) -> None:
    del world.steps[-4:]
    world.batch("backfill-1-1", {0: (20, 27)}, "replace")


@pytest.mark.parametrize(
    ("fault", "invariant"),
    [
        (stale_row_kept, 2),
        (replaced_too_much, 4),
        (row_left_to_its_older_batch, 4),
        (backfilled_beyond_the_cursor, 3),
    ],
)
def test_a_wrong_replace_turns_it_red(
    world: World, tmp_path: Path, fault: Callable[[World], None], invariant: int
) -> None:
    backfill(world)
    fault(world)
    assert invariant in verdict_on(world, tmp_path).invariants


def fence_missing(world: World) -> None:
    world.steps.remove(next(s for s in world.of("data") if not s.rows))


def closed_too_early(world: World) -> None:
    for row in (row for step in world.of("offsets") for row in step.rows):
        row["closed_at"] = 1 if row["lane"] == "forward" and row["closed_at"] else row["closed_at"]


def reset_tells_a_wrong_cursor(world: World) -> None:
    for row in (row for step in world.of("offsets") for row in step.rows):
        row["cursor_before"] = row["cursor_before"] and 20


def started_elsewhere_than_reset_to(world: World) -> None:
    for row in (row for step in world.of("offsets") for row in step.rows):
        row["cursor_after"] = row["cursor_after"] and 4


def reset_not_recorded(world: World) -> None:
    for step in [s for s in world.of("offsets") if s.rows[0]["event"].startswith("reset")]:
        world.steps.remove(step)


@pytest.mark.parametrize(
    "fault",
    [
        fence_missing,
        closed_too_early,
        reset_tells_a_wrong_cursor,
        started_elsewhere_than_reset_to,
        reset_not_recorded,
    ],
)
def test_a_wrong_reset_turns_it_red(
    world: World, tmp_path: Path, fault: Callable[[World], None]
) -> None:
    rewind(world)
    fault(world)
    assert 6 in verdict_on(world, tmp_path).invariants


def test_an_unfinished_batch_is_no_violation_of_its_own(truth: KafkaTruth, tmp_path: Path) -> None:
    world = World(truth)
    world.batch("forward-1-1", FIRST)
    plan = world.plan("forward-1-2", SECOND)
    assert verdict_on(world, tmp_path, caught_up=False).exact
    world.steps = []
    world.land(plan)
    world.steps = world.of("quarantine")
    assert verdict_on(world, tmp_path, caught_up=False).exact


def test_a_landed_batch_without_receipt_is_not_settled(truth: KafkaTruth, tmp_path: Path) -> None:
    world = World(truth)
    world.batch("forward-1-1", FIRST)
    world.land(world.plan("forward-1-2", SECOND))
    verdict = verdict_on(world, tmp_path, settled=False)
    assert verdict.exact, str(verdict)
    assert verdict_of(world, tmp_path).invariants == {8}


def test_maintenance_changes_nothing(world: World, tmp_path: Path) -> None:
    backfill(world)
    world.write(tmp_path)
    for folder in ("world", "world__quarantine", "world__offsets"):
        DeltaTable(tmp_path / folder).optimize.compact()
    verdict = verdict_of(world, tmp_path)
    assert verdict.exact, str(verdict)
    DeltaTable(tmp_path / "world").vacuum(0, dry_run=False, enforce_retention_duration=False)
    verdict = verdict_of(world, tmp_path)
    assert verdict.exact, str(verdict)
    assert any("files are gone" in note for note in verdict.notes)


def test_a_cleaned_log_is_judged_from_its_checkpoint(world: World, tmp_path: Path) -> None:
    world.write(tmp_path)
    DeltaTable(tmp_path / "world").create_checkpoint()
    for commit in (tmp_path / "world" / "_delta_log").glob("0*.json"):
        commit.unlink()
    verdict = verdict_of(world, tmp_path)
    assert verdict.exact, str(verdict)
    assert verdict.facts.committed == 2


def test_a_rollback_is_red_until_a_reset_closes_it(world: World, tmp_path: Path) -> None:
    world.write(tmp_path)
    DeltaTable(tmp_path / "world").restore(0)
    assert 1 in verdict_of(world, tmp_path).invariants
    world.steps, world.data_version = [], 2
    world.reset(2, 1, {0: (26, 13), 1: (26, 4)})
    world.batch("forward-2-1", SECOND)
    verdict = verdict_on(world, tmp_path)
    assert verdict.exact, str(verdict)


def test_rows_deleted_by_hand_turn_it_red(world: World, tmp_path: Path) -> None:
    world.write(tmp_path)
    DeltaTable(tmp_path / "world").delete("_offset = 2")
    assert {1, 4} <= verdict_of(world, tmp_path).invariants
