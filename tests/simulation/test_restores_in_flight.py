"""A RESTORE while a command commits: what lands behind it counts, or is read again."""

from __future__ import annotations

import pytest
from sluice.errors import ResetNeeded

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.commands import Command
from tests.simulation.history import History
from tests.simulation.play import a_world
from tests.simulation.restores import restore

Values = tuple[int | bytes, ...]
_NONE, _SOME = (), (0, 1, 2, 3, BROKEN, 5)


@pytest.mark.parametrize(
    ("before", "new", "words"),
    [
        (_NONE, _SOME, ("run",)),
        (_SOME, _SOME, ("run",)),
        (_SOME, _NONE, ("reprocess", "--range", "t[0] [0, 6)")),
    ],
    ids=["behind an empty batch", "behind some", "a backfill"],
)
@pytest.mark.parametrize("write", [1, 2, 4], ids=["its first", "its second", "its last"])
def test_who_follows_the_messages_ends_exact(
    before: Values, new: Values, words: tuple[str, ...], write: int
) -> None:
    """Whichever of its writes has begun meanwhile, and to whatever version."""
    for to in range(5):
        with a_world(History("in flight", 0)) as world:
            hand = Hand(world)
            world.keys["max_records_per_batch"] = 3
            if before:
                hand.produce(*before)
            hand.does("run")
            if new:
                hand.produce(*new)
            process = hand.stops_at("lake: snapshot taken", *words, nth=write)
            if (version := hand.table().version()) <= to:
                break
            restore(world, "trips", to)
            world.go_on(process, None)
            assert hand.table().version() > version + 1, "it has landed nothing"
            if isinstance(world.carry_out(Command(("run",))).problem, ResetNeeded):
                hand.does("reset", "--to-table")
                # It names the backfills that it gives up.
                if words != ("run",):
                    hand.does(*words)
            hand.is_exact()
