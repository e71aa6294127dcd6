"""A quarantine table that a recovery sets aside, played by hand: its rows count for nothing."""

from __future__ import annotations

from sluice.errors import RowsErased
from sluice.moves import YOUR_WORDS, Move
from sluice.offsets.ranges import OffsetRange, TopicPartition

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.operator import command_of
from tests.simulation.restores import alter_as_told, create_as_select

PARTITION = TopicPartition("t", 0)


def is_copied_without_properties(hand: Hand) -> None:
    """CREATE TABLE … AS SELECT: nothing says any more whose table it is."""
    create_as_select(hand.world.table("trips__quarantine"))
    assert hand.refused().moves == (Move("quarantine recover", ("trips",)),)


def test_the_preview_tells_what_is_lost_with_it(hand: Hand) -> None:
    hand.produce(0, BROKEN, 2)
    hand.does("run")
    is_copied_without_properties(hand)
    hand.world.kafka.delete_records(PARTITION, 2)
    shown = hand.previews_quarantine()
    assert shown.sets_aside
    assert [each.offsets for each in shown.losses] == [OffsetRange(PARTITION, 1, 2)]
    hand.does("quarantine", "recover")
    hand.is_exact(1)


def test_the_preview_tells_what_is_read_again_for_it(hand: Hand) -> None:
    hand.produce(0, BROKEN, 2)
    hand.does("run")
    is_copied_without_properties(hand)
    shown = hand.previews_quarantine()
    assert (shown.again, shown.losses) == ((OffsetRange(PARTITION, 1, 2),), ())
    hand.does("quarantine", "recover")
    hand.is_exact()


def test_a_copy_that_says_whose_it_is_keeps_its_rows(hand: Hand) -> None:
    hand.produce(0, BROKEN, 2)
    hand.does("run")
    is_copied_without_properties(hand)
    alter_as_told(str(hand.refused()))
    hand.world.kafka.delete_records(PARTITION, 2)
    shown = hand.previews_quarantine()
    assert (shown.sets_aside, shown.again, shown.losses) == (False, (), ())
    hand.does("quarantine", "recover")
    hand.is_exact()


def test_what_may_come_back_is_asked_about_before_anything_is_set_aside(hand: Hand) -> None:
    hand.produce(0, BROKEN)
    hand.does("run")
    hand.produce(2, BROKEN, 4)
    hand.does("run")
    hand.table().delete("_offset = 2")
    hand.table().vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    is_copied_without_properties(hand)
    assert hand.previews_quarantine().coming_back
    before = hand.versions(), hand.quarantine.metadata().id
    problem = hand.refused("quarantine", "recover")
    assert isinstance(problem, RowsErased)
    assert (hand.versions(), hand.quarantine.metadata().id) == before, "nothing was changed"
    (move,) = problem.moves
    assert move.arguments[1:] == ("--bring-back-erased", "--execute", "--reason", YOUR_WORDS)
    hand.does(*command_of(move, "told").words)
    hand.is_exact()


def test_a_recovery_that_was_stopped_behind_it_is_no_older_copy(hand: Hand) -> None:
    hand.produce(0, BROKEN, 2)
    hand.does("run")
    is_copied_without_properties(hand)
    hand.stops_at("quarantine replaced", "quarantine", "recover")
    hand.world.frozen.clear()
    assert "was put back, or its recovery was stopped" in str(hand.refused())
    hand.does("quarantine", "recover")
    hand.is_exact()
