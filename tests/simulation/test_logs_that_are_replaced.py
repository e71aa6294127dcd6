"""A reset on a log that was truncated: rows stay only where a batch shows that it is the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sluice.errors import ResetNeeded
from sluice.offsets.ranges import TopicPartition

from tests.simulation.by_hand import Hand
from tests.simulation.history import History
from tests.simulation.play import a_world


@pytest.fixture
def hand() -> Iterator[Hand]:
    """Offsets 0 and 1 are of a first batch, 2 to 4 of a second one."""
    with a_world(History("by hand", 0)) as world:
        hand = Hand(world)
        for values in ((0, 1), (2, 3, 4)):
            hand.produce(*values)
            hand.does("run")
        yield hand


def truncated(hand: Hand, end: int) -> None:
    """Others follow what is left, over all that was read."""
    hand.world.kafka.truncate(TopicPartition("t", 0), end)
    hand.produce(7, 8, 9, 10)


@pytest.mark.parametrize("target", ["--to-offsets t[0]=3", "--shift-by 0", "--to-latest"])
def test_a_reset_keeps_no_rows_of_another_log(hand: Hand, target: str) -> None:
    truncated(hand, 1)
    refused = hand.refused("reset", *target.split(" ", 1))
    assert isinstance(refused, ResetNeeded)
    assert "`sluice reset trips --to-earliest --topic t`" in str(refused)
    hand.does("reset", "--to-earliest", "--topic", "t")
    hand.is_exact()


def test_it_keeps_those_before_the_end_of_a_batch_that_is_still_there(hand: Hand) -> None:
    truncated(hand, 2)
    assert isinstance(hand.refused("reset", "--to-offsets", "t[0]=3"), ResetNeeded)
    hand.does("reset", "--to-offsets", "t[0]=2")
    hand.is_exact()
    assert sorted(hand.table().to_pyarrow_table().column("id").to_pylist()) == [0, 1, 7, 8, 9, 10]
