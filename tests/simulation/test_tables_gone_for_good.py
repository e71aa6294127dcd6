"""The data table is gone, and nobody has a copy, played by hand: where the pipeline begins anew."""

from __future__ import annotations

import shutil

import pytest

from tests.simulation.by_hand import Hand

BEHIND = ["latest", {"offsets": {"t": {0: 2}}}, {"timestamp": "2061-01-01T00:00:00Z"}]


def has_landed_three(hand: Hand, start: object) -> None:
    """The pipeline began at the beginning; since then, the spec says something else."""
    hand.produce(0, 1, 2)
    hand.does("run")
    hand.world.keys = {**hand.world.keys, "start": start}
    shutil.rmtree(hand.world.table("trips"))
    hand.refused()


@pytest.mark.parametrize("start", BEHIND, ids=str)
def test_what_a_start_passes_over_is_told_and_read_if_the_spec_says_so(
    hand: Hand, start: object
) -> None:
    has_landed_three(hand, start)
    told = hand.previews_recovery().passed_over
    assert told
    assert "what Kafka holds before it is passed over; `start: earliest`" in told
    hand.does("recover")
    hand.world.keys = {**hand.world.keys, "start": "earliest"}
    hand.is_exact()
    assert hand.rows() == [0, 1, 2]


def test_a_start_at_the_beginning_passes_over_nothing(hand: Hand) -> None:
    has_landed_three(hand, "earliest")
    assert hand.previews_recovery().passed_over is None
    hand.does("recover")
    hand.is_exact()
    assert hand.rows() == [0, 1, 2]
