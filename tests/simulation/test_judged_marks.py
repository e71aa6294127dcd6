"""How far others' commits were judged: believed of the very log that was judged, and no other."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from deltalake import Transaction
from sluice.errors import OffsetsDamaged, ResetNeeded, TableRefused
from sluice.progress.judged import mark_judged, marked
from sluice.progress.lane_state import LaneState, read_untrusted
from sluice.progress.lanes import read_lane

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.history import History
from tests.simulation.play import a_world
from tests.simulation.restores import restore
from tests.simulation.told import read_tables

MANY, FEW = 130, 20
STRANGER = Transaction("another writer", 1)


@pytest.fixture
def hand() -> Iterator[Hand]:
    """A pipeline with one settled batch."""
    with a_world(History("by hand", 0)) as world:
        hand = Hand(world)
        hand.produce(0, BROKEN)
        hand.does("run")
        yield hand


def a_stranger_commits(hand: Hand) -> int:
    log = hand.world.table("trips") / "_delta_log"
    version = hand.table().version() + 1
    txn = {"appId": STRANGER.app_id, "version": 1}
    lines = ({"commitInfo": {"timestamp": 1, "operation": "WRITE"}}, {"txn": txn})
    (log / f"{version:020d}.json").write_text("".join(f"{json.dumps(e)}\n" for e in lines))
    return version


def state(hand: Hand) -> LaneState:
    return read_untrusted(hand.world.pipeline().resources)


def mark(hand: Hand, name: str = "trips") -> int:
    """The version up to which a new process believes that a table was judged."""
    found = state(hand)
    return marked(found, found.data if name == "trips" else found.quarantine)


def written(hand: Hand) -> int:
    return hand.table("trips__offsets").version()


def test_only_a_run_that_judged_many_commits_marks_them_and_once(hand: Hand) -> None:
    before = written(hand)
    hand.others_commit(FEW)
    hand.does("catch up")
    assert (written(hand), mark(hand)) == (before, -1)
    judged = hand.others_commit(MANY)
    for look in ("status", "plan", "check", "verify"):
        hand.does(look)
    assert written(hand) == before, "a look has written"
    hand.does("catch up")
    assert (written(hand), mark(hand)) == (before + 1, judged)
    hand.does("catch up")
    hand.others_commit(FEW)
    hand.does("catch up")
    assert (written(hand), mark(hand)) == (before + 1, judged)
    hand.produce(2)
    hand.is_exact()


def test_a_receipt_and_a_reset_know_better_than_a_mark(hand: Hand) -> None:
    judged = hand.others_commit(MANY)
    hand.does("catch up")
    assert mark(hand) == judged
    hand.produce(2)
    hand.does("run")
    assert mark(hand) == -1
    assert state(hand).checked > judged
    judged = hand.others_commit(MANY)
    hand.does("catch up")
    assert mark(hand) == judged
    hand.does("reset", "--shift-by", "0")
    assert mark(hand) == -1
    assert state(hand).checked >= judged
    hand.is_exact()


def test_a_copy_that_has_grown_past_the_mark_is_judged_anew(hand: Hand, tmp_path: Path) -> None:
    shutil.copytree(hand.world.table("trips"), tmp_path / "trips")
    judged = hand.others_commit(MANY)
    hand.does("catch up")
    assert mark(hand) == judged
    shutil.rmtree(hand.world.table("trips"))
    shutil.copytree(tmp_path / "trips", hand.world.table("trips"))
    a_stranger_commits(hand)
    assert hand.others_commit(MANY) > judged
    assert mark(hand) == -1
    assert "another writer" in str(hand.refused("catch up"))


def test_a_table_that_was_refused_gets_no_mark(hand: Hand) -> None:
    before = written(hand)
    hand.others_commit(FEW)
    stranger = a_stranger_commits(hand)
    hand.others_commit(MANY)
    assert isinstance(hand.refused("catch up"), TableRefused)
    assert isinstance(hand.refused("settle"), TableRefused)
    assert (written(hand), mark(hand)) == (before, -1)
    restore(hand.world, "trips", stranger - 1)
    judged = hand.table().version()
    hand.does("catch up")
    assert mark(hand) == judged
    # Brought back behind the mark.
    restore(hand.world, "trips", stranger)
    assert "another writer" in str(hand.refused("catch up"))


def test_what_a_restore_undoes_below_the_mark_is_named(hand: Hand) -> None:
    first = hand.table().version()
    hand.produce(2)
    hand.does("run")
    judged = hand.others_commit(MANY)
    hand.does("catch up")
    assert mark(hand) == judged
    restore(hand.world, "trips", first)
    hand.others_commit(MANY)
    before = written(hand)
    assert isinstance(hand.refused("catch up"), ResetNeeded)
    assert written(hand) == before
    hand.does("reset", "--to-table")
    hand.is_exact()


def test_offsets_that_have_lost_a_receipt_leave_no_mark(hand: Hand) -> None:
    hand.produce(2)
    hand.does("run")
    receipt = written(hand)
    judged = hand.others_commit(MANY)
    hand.does("catch up")
    assert mark(hand) == judged
    for version in range(receipt):
        hand.table("trips__offsets").restore(version)
        with pytest.raises(OffsetsDamaged):
            mark(hand)
    hand.table("trips__offsets").restore(receipt)
    assert mark(hand) == judged, "all that it was judged by is there"
    shutil.rmtree(hand.world.table("trips__offsets"))
    hand.does("recover")
    assert mark(hand) == -1
    hand.is_exact()


def test_a_table_made_anew_has_no_mark(hand: Hand) -> None:
    hand.others_commit(MANY)
    hand.does("catch up")
    hand.copies_rows()
    hand.others_commit(MANY)
    hand.refused("catch up")
    assert mark(hand) == -1
    hand.does("recover")
    assert mark(hand) == -1
    hand.produce(2)
    hand.is_exact()


def test_a_table_that_is_exchanged_after_it_was_judged_gets_no_mark(
    hand: Hand, tmp_path: Path
) -> None:
    shutil.copytree(hand.world.table("trips"), tmp_path / "trips")
    judged = hand.others_commit(MANY)
    resources = hand.world.pipeline().resources
    found = read_lane(resources)
    shutil.rmtree(hand.world.table("trips"))
    shutil.copytree(tmp_path / "trips", hand.world.table("trips"))
    a_stranger_commits(hand)
    assert hand.others_commit(MANY) > judged
    mark_judged(resources, found)
    assert mark(hand) == -1
    assert "another writer" in str(hand.refused("catch up"))


def test_two_that_mark_at_once_are_never_wrong(hand: Hand) -> None:
    before, judged = written(hand), hand.others_commit(MANY)
    first = hand.stops_at("offsets to commit", "catch up")
    hand.does("catch up")
    assert mark(hand) == judged
    hand.goes_on(first)
    assert (written(hand), mark(hand)) == (before + 1, judged)


@pytest.mark.parametrize("point", ["offsets to commit", "offsets committed"])
def test_one_that_is_killed_while_it_marks_leaves_it_to_the_next(hand: Hand, point: str) -> None:
    judged = hand.others_commit(MANY)
    hand.stops_at(point, "catch up")
    hand.world.frozen.clear()
    hand.does("catch up")
    assert mark(hand) == judged
    hand.produce(2)
    hand.is_exact()


def test_one_that_was_frozen_marks_what_nobody_believes(hand: Hand, tmp_path: Path) -> None:
    shutil.copytree(hand.world.table("trips"), tmp_path / "trips")
    judged = hand.others_commit(MANY)
    for_later = hand.stops_at("offsets to commit", "catch up")
    shutil.rmtree(hand.world.table("trips"))
    shutil.copytree(tmp_path / "trips", hand.world.table("trips"))
    a_stranger_commits(hand)
    assert hand.others_commit(MANY) > judged
    hand.world.go_on(for_later, None)
    assert mark(hand) == -1
    assert "another writer" in str(hand.refused("catch up"))


def test_one_that_was_frozen_marks_beside_a_newer_receipt(hand: Hand) -> None:
    hand.others_commit(MANY)
    frozen = hand.stops_at("offsets to commit", "catch up")
    hand.produce(2)
    hand.does("run")
    checked = state(hand).checked
    hand.goes_on(frozen)
    assert (mark(hand), state(hand).checked) == (-1, checked)
    hand.is_exact()


@pytest.mark.parametrize("recovered", [False, True])
def test_one_that_was_frozen_meets_offsets_that_are_gone_or_built_anew(
    hand: Hand, recovered: bool
) -> None:
    hand.others_commit(MANY)
    frozen = hand.stops_at("offsets to commit", "catch up")
    shutil.rmtree(hand.world.table("trips__offsets"))
    if recovered:
        hand.does("recover")
    done = hand.world.go_on(frozen, None)
    assert done is not None
    if not recovered:
        hand.does("recover")
    assert mark(hand) == -1
    hand.produce(2)
    hand.is_exact()


def test_a_mark_outlives_upkeep_and_checkpoints_of_the_offsets(hand: Hand) -> None:
    judged = hand.others_commit(MANY)
    hand.does("catch up")
    hand.table("trips__offsets").optimize.compact()
    hand.table("trips__offsets").create_checkpoint()
    for each in (hand.world.table("trips__offsets") / "_delta_log").glob("*.json"):
        if int(each.stem) < written(hand):
            each.unlink()
    assert mark(hand) == judged
    hand.does("maintain")
    hand.is_exact()
    shutil.rmtree(hand.world.table("trips__offsets"))
    hand.does("recover")
    hand.produce(2)
    hand.is_exact()


def test_a_mark_whose_commit_log_cleanup_took_is_made_anew(hand: Hand) -> None:
    judged = hand.others_commit(MANY)
    hand.does("catch up")
    hand.others_commit(FEW)
    hand.table().create_checkpoint()
    for each in (hand.world.table("trips") / "_delta_log").glob("*.json"):
        if int(each.stem) <= judged:
            each.unlink()
    assert mark(hand) == -1
    before = written(hand)
    newest = hand.table().version()
    hand.does("catch up")
    assert (written(hand), mark(hand)) == (before + 1, newest)
    hand.does("catch up")
    assert written(hand) == before + 1


def test_the_quarantine_is_marked_and_what_others_take_behind_it_is_missed(hand: Hand) -> None:
    name, before = "trips__quarantine", written(hand)
    judged = hand.others_commit(MANY, name=name, operation="DELETE")
    hand.does("catch up")
    assert (written(hand), mark(hand, name), mark(hand)) == (before + 1, judged, -1)
    assert len(state(hand).quarantine.unjudged("trips", judged)) == 0
    hand.does("catch up")
    assert written(hand) == before + 1
    hand.quarantine.delete("_offset = 1")
    hand.others_commit(MANY, name=name)
    assert "found some gone: 1 of forward-1-1" in str(hand.refused("catch up"))
    assert written(hand) == before + 1, "a refused table is marked"
    restore(hand.world, name, judged)
    hand.is_exact()


def test_a_quarantine_that_was_put_back_and_has_grown_is_judged_anew(
    hand: Hand, tmp_path: Path
) -> None:
    name = "trips__quarantine"
    shutil.copytree(hand.world.table(name), tmp_path / name)
    judged = hand.others_commit(MANY, name=name)
    hand.does("catch up")
    assert mark(hand, name) == judged
    shutil.rmtree(hand.world.table(name))
    shutil.copytree(tmp_path / name, hand.world.table(name))
    hand.quarantine.delete("_offset = 1")
    hand.others_commit(MANY, name=name)
    assert mark(hand, name) == -1
    assert "found some gone: 1 of forward-1-1" in str(hand.refused("catch up"))


def test_rows_are_the_same_with_and_without_a_mark(hand: Hand) -> None:
    for number in range(2, 5):
        hand.others_commit(MANY)
        hand.does("catch up")
        hand.produce(number)
        hand.does("run")
    assert [row["id"] for row in read_tables(hand.world).data.rows] == [0, 2, 3, 4]
    hand.does("reset", "--to-earliest")
    hand.others_commit(MANY)
    hand.is_exact()
