"""Whoever does what a refusal says gets on: no command leads back to the same message.

One fault at a time; two at once are what the simulation draws.
"""

from __future__ import annotations

import pytest
from sluice.errors import SluiceError

from tests.simulation.commands import Command
from tests.simulation.history import History, Step
from tests.simulation.judge import Judge
from tests.simulation.operator import follow
from tests.simulation.oracle import exact
from tests.simulation.play import a_world, act
from tests.simulation.told import read_tables
from tests.simulation.world import World

_PRODUCE, _RUN = Step("produce", (0, 3, 1, 0)), Step("run")
_BAD, _COPY = Step("produce", (0, 0, 16, 0)), Step("tables copied")
# What happens between two runs, and how the run after it is refused.
FAULTS: dict[str, tuple[Step, ...]] = {
    "RESTORE of the data table": (Step("others restore the data table"),),
    "the data table put back": (_COPY, _PRODUCE, _RUN, Step("the data table is put back")),
    "the data table put back behind a reset": (
        *(_COPY, Step("reset"), _RUN),
        Step("the data table is put back"),
    ),
    "the data table dropped": (Step("the data table is dropped"),),
    "the data table cloned": (Step("the data table is cloned"),),
    "the offsets table dropped": (Step("the offsets table is dropped"),),
    "the offsets table put back": (_COPY, _PRODUCE, _RUN, Step("the offsets table is put back")),
    "a topic created anew": (Step("topic created anew"), _PRODUCE),
    "an unclean election": (Step("an unclean election"),),
    "the brokers put back": (
        *(Step("brokers copied"), _PRODUCE, _RUN, Step("brokers put back")),
        *(_PRODUCE, _PRODUCE),
    ),
    "another cluster": (Step("another cluster"), _PRODUCE),
    "retention": (_PRODUCE, Step("retention deletes", (0, 7, 0, 0))),
    "too many in quarantine": (Step("the quarantine gets a limit"), _BAD, _BAD, _BAD),
    "a record left out": (_PRODUCE, Step("the reader leaves out a record")),
}
_ROUNDS = 6


@pytest.mark.parametrize("fault", FAULTS)
def test_following_the_messages_ends_in_a_green_run(fault: str) -> None:
    with a_world(History(fault, 0)) as world:
        judge = Judge(world)
        for step in (_PRODUCE, _RUN, *FAULTS[fault]):
            assert act(judge, world, step) is None
        assert _refused(world), "nothing was refused"
        seen: set[object] = set()
        for _ in range(_ROUNDS):
            state = repr(read_tables(world).offsets.transactions), str(world.refusal)
            assert state not in seen, f"back at the same message:\n{world.refusal}"
            seen.add(state)
            assert follow(world) is not None, f"nothing to follow:\n{world.refusal}"
            if not _refused(world):
                break
        else:
            raise AssertionError(f"still refused:\n{world.refusal}")
        world.books.look(world.kafka)
        assert exact(world, read_tables(world), caught_up=True) == []


def _refused(world: World) -> bool:
    """Whether the next run is refused; what may be tried again is."""
    for _ in range(3):
        done = world.carry_out(Command(("catch up",), f"reason {len(world.told)}"))
        if not isinstance(done.problem, SluiceError) or not done.problem.retryable:
            break
    assert done.green or isinstance(done.problem, SluiceError), repr(done.problem)
    return not done.green
