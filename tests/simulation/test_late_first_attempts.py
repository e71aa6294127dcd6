"""An attempt at a batch that comes late, where a copy has taken the table's place.

The plan of a pipeline's first batch names no table yet.
"""

from __future__ import annotations

import pytest
from sluice.errors import SluiceError

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.commands import Command
from tests.simulation.history import History
from tests.simulation.play import a_world

# A first run has some fifty steps.
_MOST = 80


@pytest.mark.parametrize(
    ("before", "values"),
    [(0, (0,)), (0, (0, BROKEN)), (1, (1,))],
    ids=["decodable", "some undecodable", "the second batch"],
)
def test_it_lands_in_no_copy_that_took_the_place_of_the_table(
    before: int, values: tuple[int | bytes]
) -> None:
    """At whatever step it stands still meanwhile."""
    late = within = 0
    for steps in range(_MOST):
        with a_world(History("late", 0)) as world:
            hand = Hand(world)
            for at in range(before):
                hand.produce(at)
                hand.does("run")
            hand.produce(*values)
            if world.begin_process(Command(("run",)), steps) is not None:
                break
            (process,) = world.frozen
            hand.does("run")
            hand.copies_rows()
            done = world.go_on(process, None)
            assert done is not None
            assert done.green or isinstance(done.problem, SluiceError), done.problem
            late += "expected Delta table" in str(done.problem)
            within += "expected the log that the write was begun on" in str(done.problem)
            assert hand.rows() == [*range(before), values[0]], f"at {process.point!r}"
            hand.does("recover")
            hand.is_exact()
    assert late
    assert within
