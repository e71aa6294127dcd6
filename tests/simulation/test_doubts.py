"""A doubt about a batch outlives the offsets table and the topic that it is about."""

from __future__ import annotations

import shutil

import pytest
from sluice.errors import BatchInDoubt

from tests.simulation.by_hand import Hand
from tests.simulation.restores import restore
from tests.simulation.told import read_tables


def landed(hand: Hand) -> None:
    """A batch has landed, and its topic is created anew before anybody has looked."""
    hand.produce(0, 1)
    hand.stops_at("commit landed")
    is_created_anew(hand)


def is_created_anew(hand: Hand) -> None:
    hand.world.frozen.clear()
    hand.world.kafka.delete_topic("t")
    hand.world.kafka.create_topic("t", 1)
    hand.produce(100, 101, 102)


def loses_the_offsets_table(hand: Hand) -> None:
    shutil.rmtree(hand.world.table("trips__offsets"))


def told(hand: Hand, event: str) -> list[str]:
    rows = read_tables(hand.world).offsets.rows
    return [row["batch"] for row in rows if row["event"] == event]


def test_a_recorded_doubt_outlives_the_offsets_table_and_the_new_topic(hand: Hand) -> None:
    landed(hand)
    assert isinstance(hand.refused(), BatchInDoubt)
    loses_the_offsets_table(hand)
    hand.world.kafka.delete_topic("t")
    hand.refused()
    hand.does("recover")
    assert told(hand, "committed") == []
    assert isinstance(hand.refused(), BatchInDoubt)


def test_a_doubt_that_a_recovery_finds_outlives_the_new_topic(hand: Hand) -> None:
    landed(hand)
    loses_the_offsets_table(hand)
    hand.refused()
    hand.does("recover")
    hand.world.kafka.delete_topic("t")
    assert isinstance(hand.refused(), BatchInDoubt)
    assert told(hand, "committed") == []


def test_what_was_decided_is_not_asked_again_once_something_has_landed_behind_it(
    hand: Hand,
) -> None:
    landed(hand)
    assert isinstance(hand.refused(), BatchInDoubt)
    hand.does("verify", "--accept-gap", "t[0] [0, 2)")
    hand.does("reset", "--to-earliest")
    hand.does("run")
    loses_the_offsets_table(hand)
    hand.refused()
    hand.does("recover")
    assert told(hand, "committed") == ["forward-1-1", "forward-2-1"]
    hand.is_exact()


def test_what_was_decided_just_before_the_loss_is_asked_once_more(hand: Hand) -> None:
    landed(hand)
    assert isinstance(hand.refused(), BatchInDoubt)
    hand.does("verify", "--accept-gap", "t[0] [0, 2)")
    loses_the_offsets_table(hand)
    hand.refused()
    hand.does("recover")
    assert isinstance(hand.refused(), BatchInDoubt)
    hand.does("verify", "--accept-gap", "t[0] [0, 2)")
    hand.does("reset", "--to-earliest")
    hand.is_exact()


def test_a_batch_that_was_undone_as_told_is_in_no_doubt_after_a_recovery(hand: Hand) -> None:
    landed(hand)
    assert "RESTORE the data table to version 0; then" in str(hand.refused())
    restore(hand.world, "trips", 0)
    hand.does("reset", "--to-earliest", "--topic", "t")
    hand.does("run")
    loses_the_offsets_table(hand)
    hand.refused()
    hand.does("recover")
    assert told(hand, "committed") == ["forward-2-1"]
    # The old topic's records are nowhere any more.
    hand.is_exact(0, 1)


def test_a_doubt_outlives_an_offsets_table_whose_files_are_gone(hand: Hand) -> None:
    landed(hand)
    assert isinstance(hand.refused(), BatchInDoubt)
    for each in hand.world.table("trips__offsets").glob("*.parquet"):
        each.unlink()
    hand.world.kafka.delete_topic("t")
    hand.refused()
    hand.does("recover")
    assert told(hand, "committed") == []
    assert isinstance(hand.refused(), BatchInDoubt)


def test_a_retry_of_ingest_alone_lands_nothing_behind_a_batch_in_doubt(hand: Hand) -> None:
    hand.world.keys["max_records_per_batch"] = 1
    hand.produce(0, 1)
    work = hand.world.pipeline().plan("run", "pytest")
    assert len(work.batches) == 2
    hand.stops_at("commit landed")
    is_created_anew(hand)
    with pytest.raises(BatchInDoubt):
        hand.world.pipeline().land(work)
    assert {row["_batch"] for row in read_tables(hand.world).data.rows} == {"forward-1-1"}


def test_a_doubt_is_told_though_the_offsets_table_was_lost_meanwhile(hand: Hand) -> None:
    hand.produce(0, 1)
    landing = hand.stops_at("commit landed")
    is_created_anew(hand)
    hand.world.frozen.append(landing)
    loses_the_offsets_table(hand)
    done = hand.world.go_on(landing, None)
    assert done is not None
    assert isinstance(done.problem, BatchInDoubt)
    hand.world.kafka.delete_topic("t")
    hand.refused()
    hand.does("recover")
    assert isinstance(hand.refused(), BatchInDoubt)
