"""A table is gone, or a file of it, and nobody has a copy, played by hand: what leads on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.operator import command_of

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
    assert "records that Kafka holds before it are passed over" in told
    assert "`start: earliest`" in told
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


@pytest.mark.parametrize("name", ["trips", "trips__quarantine"])
def test_a_table_that_lacks_a_file_is_moved_away_and_the_next_run_leads_on(
    hand: Hand, name: str
) -> None:
    hand.produce(0, BROKEN, 2)
    hand.does("run")
    for each in hand.table(name).file_uris():
        Path(each).unlink()
    found = str(hand.refused("verify"))
    assert f"{name}/: a file of the table is gone" in found
    assert "Without one, move its folder away: the next run then says what leads on." in found
    hand.world.table(name).rename(hand.world.folder / "kept")
    (move,) = hand.refused().moves
    hand.does(*command_of(move, "no backup").words)
    hand.is_exact()
    assert hand.rows() == [0, 2]
