"""An attempt at a pipeline's first batch that comes late: that batch's plan names no table yet."""

from __future__ import annotations

import pytest
from sluice.errors import SluiceError

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.commands import Command
from tests.simulation.history import History
from tests.simulation.play import a_world

# A first run has some fifty steps.
_MOST = 80


@pytest.mark.parametrize("values", [(0,), (0, BROKEN)], ids=["decodable", "some undecodable"])
def test_it_lands_in_no_copy_that_took_the_place_of_the_table(values: tuple[int | bytes]) -> None:
    """At whatever step it stands still meanwhile, but within the commit."""
    late, committing = 0, False
    for steps in range(_MOST):
        with a_world(History("late", 0)) as world:
            hand = Hand(world)
            hand.produce(*values)
            if world.begin_process(Command(("run",)), steps) is not None:
                break
            (process,) = world.frozen
            hand.does("run")
            hand.copies_rows()
            done = world.go_on(process, None)
            assert done is not None
            assert done.green or isinstance(done.problem, SluiceError), done.problem
            # From Delta's snapshot on a copy of as many versions is not told from the table.
            committing |= process.point == "lake: snapshot taken"
            committing &= process.point not in ("reading", "lake: committed")
            late += "expected Delta table" in str(done.problem)
            if not committing:
                assert hand.rows() == [0], f"at {process.point!r}"
                hand.does("recover")
                hand.is_exact()
    assert late
