"""Batches in the table that no run settles, played by hand: since when nothing explains it."""

from __future__ import annotations

import pytest
from sluice.errors import GapUnexplained
from sluice.offsets.ranges import TopicPartition
from sluice.progress.lane_state import read_unchecked
from sluice.progress.overdue import Overdue, find_overdue

from tests.simulation.by_hand import Hand
from tests.simulation.commands import Command


def overdue(hand: Hand) -> Overdue | None:
    return find_overdue(read_unchecked(hand.world.pipeline().resources))


def fails(hand: Hand, run: str) -> None:
    problem = hand.world.carry_out(Command(("run",), run)).problem
    assert isinstance(problem, GapUnexplained), problem


def loses_one(hand: Hand) -> None:
    """Offset 2, between two others."""
    for each in range(3):
        hand.produce(each)
    hand.world.kafka.lose(TopicPartition("t", 0), 2, 3)


def test_a_batch_that_three_runs_have_not_settled_is_overdue_since_it_landed(hand: Hand) -> None:
    """The second may have been at work for long on what it goes on with; the third one has not."""
    hand.produce(0)
    hand.does("run")
    assert overdue(hand) is None
    loses_one(hand)
    fails(hand, "first")
    first = overdue(hand)
    assert first is not None
    fails(hand, "with nothing new")
    assert overdue(hand) == first
    hand.produce(4)
    fails(hand, "second")
    second = overdue(hand)
    assert second is not None
    hand.produce(5)
    fails(hand, "third")
    third = overdue(hand)
    assert third is not None
    assert [str(each.batch) for each in (first, second, third)] == ["forward-1-2"] * 3
    assert [each.batches for each in (first, second, third)] == [1, 2, 3]
    assert first.since == third.since < second.since
    hand.does("verify", "--accept-gap", "t[0] [2, 3)")
    hand.does("run")
    assert overdue(hand) is None


def test_a_run_that_has_landed_many_batches_is_not_late_while_it_lands_more(hand: Hand) -> None:
    hand.world.keys = {**hand.world.keys, "max_records_per_batch": 1}
    hand.produce(0, 1, 2, 3)
    hand.stops_at("before receipt")
    found = overdue(hand)
    assert found is not None
    assert (found.batches, str(found.batch)) == (4, "forward-1-1")
    newest = read_unchecked(hand.world.pipeline().resources).due[-1]
    assert found.since == hand.world.pipeline().resources.data.snapshot().log.committed_at(newest)


def test_a_batch_that_is_read_again_is_due_as_well(hand: Hand) -> None:
    hand.produce(0, 1, 2)
    hand.does("run")
    hand.stops_at("commit landed", "reprocess", "--range", "t[0] [0, 3)")
    found = overdue(hand)
    assert found is not None
    assert str(found.batch) == "backfill-1-1"


@pytest.mark.parametrize("lost", [False, True])
def test_a_batch_without_a_receipt_is_told_before_the_next_run(hand: Hand, lost: bool) -> None:
    hand.produce(0)
    hand.does("run")
    if lost:
        loses_one(hand)
        fails(hand, "first")
    notes = hand.world.pipeline().dry_run().notes
    assert bool(notes) == lost
    assert all("without receipt: forward-1-2. The next run settles" in each for each in notes)
