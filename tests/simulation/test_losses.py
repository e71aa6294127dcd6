"""Losses that are told more than once, played by hand: each offset is lost once."""

from __future__ import annotations

import shutil

import pytest
from sluice.offsets.ranges import TopicPartition
from sluice.operations.recover.recover import recover
from sluice.operations.status import PipelineStatus

from tests.simulation.by_hand import Hand
from tests.simulation.restores import restore

PARTITION = TopicPartition("t", 0)


def test_an_offset_that_a_recovery_tells_for_each_batch_that_read_it_is_lost_once(
    hand: Hand,
) -> None:
    hand.world.keys["on_data_loss"] = "record"
    for each in range(4):
        hand.produce(each)
    hand.world.kafka.lose(PARTITION, 1, 2)
    hand.does("run")
    hand.does("reprocess", "--range", "t[0] [0, 4)")
    hand.does("run")
    shutil.rmtree(hand.world.table("trips__offsets"))
    hand.refused()
    pipeline = hand.world.pipeline()
    by = pipeline.origin("run", "pytest")
    recovery = recover(pipeline.resources, "told again", by)
    assert [len(each.losses) for each in recovery.receipts] == [1, 1]
    hand.is_exact(1)
    status, verdict = pipeline.status(), pipeline.verify(lambda *_: None)
    assert isinstance(status, PipelineStatus)
    assert (recovery.lost, status.lost, verdict.lost, verdict.losses) == (1, 1, 1, 2)


def test_what_a_recovery_has_told_as_lost_stays_so_behind_the_next_reset(hand: Hand) -> None:
    hand.world.keys["on_data_loss"] = "record"
    for each in (0, 1):
        hand.produce(each)
        hand.does("run")
    restore(hand.world, "trips", hand.table().version() - 1)
    hand.world.kafka.delete_topic("t")
    hand.world.kafka.create_topic("t", 1)
    shutil.rmtree(hand.world.table("trips__offsets"))
    hand.does("recover")
    hand.does("verify", "--accept-gap", "t[0] [0, 1)")
    hand.does("reset", "--to-earliest", "--topic", "t")
    assert len(hand.told_losses()) == 1
    hand.is_exact(1)
    assert len(hand.told_losses()) == 1


@pytest.mark.parametrize("held", [0, 4])
def test_rows_of_batches_that_the_log_has_forgotten_are_not_lost(hand: Hand, held: int) -> None:
    hand.produce(0, 1, 2, 3)
    hand.does("run")
    hand.forgets_its_log()
    hand.does("reprocess", "--range", "t[0] [1, 3)")
    restore(hand.world, "trips", hand.table().version() - 1)
    hand.world.kafka.delete_records(PARTITION, held)
    shutil.rmtree(hand.world.table("trips__offsets"))
    hand.does("recover")
    hand.is_exact()


def test_what_is_known_of_a_topic_that_is_gone_is_told_until_it_is_left_out(hand: Hand) -> None:
    """Also behind the reset that gives the plan up, as the first message says."""
    hand.produce(0, 1, 2)
    hand.does("run")
    hand.produce(3, 4, 5, 6, 7)
    hand.does("plan only")
    hand.world.kafka.delete_topic("t")
    told = "go on with at 3, found no such partition, 5 offsets up to its last known end were not"
    assert told in str(hand.refused())
    hand.does("reset", "--shift-by", "0")
    assert told in str(hand.refused())


def test_a_topic_that_is_gone_is_not_said_to_be_read_to_its_end(hand: Hand) -> None:
    """No plan knew of the last ones."""
    hand.produce(0, 1, 2)
    hand.does("run")
    hand.produce(3, 4)
    hand.world.kafka.delete_topic("t")
    assert "whether more came behind that is not known" in str(hand.refused())
