"""A table that is dropped at any step of a command: the command says so, or does without it."""

from __future__ import annotations

import shutil

import pytest
from sluice.errors import SluiceError

from tests.simulation.commands import Command
from tests.simulation.history import History, Step
from tests.simulation.judge import Judge
from tests.simulation.play import a_world, act

_BEFORE = (
    *(Step("produce", (0, 3, 1, 0)), Step("produce", (0, 0, 16, 0))),
    *(Step("run"), Step("produce", (0, 3, 1, 0))),
)
_RECOVER = ("recover",)
_COMMANDS = (
    ("catch up",),
    ("plan",),
    ("status",),
    ("reset", "--to-earliest"),
    ("reprocess", "--range", "t[0] [0, 2)"),
    ("maintain",),
    _RECOVER,
)
# A command has up to fifty steps.
_EACH, _MOST = 7, 60


@pytest.mark.parametrize("table", ["trips", "trips__offsets", "trips__quarantine"])
@pytest.mark.parametrize("words", _COMMANDS, ids=" ".join)
def test_nothing_but_an_error_with_a_next_move_leaves_a_command(
    words: tuple[str, ...], table: str
) -> None:
    for steps in range(1, _MOST, _EACH):
        with a_world(History("a table goes", 0)) as world:
            judge = Judge(world)
            for step in _BEFORE:
                assert act(judge, world, step) is None
            if words == _RECOVER:
                shutil.rmtree(world.table("trips__offsets"))
            if world.begin_process(Command(words), steps) is not None:
                return
            (process,) = world.frozen
            shutil.rmtree(world.table(table), ignore_errors=True)
            done = world.go_on(process, None)
            assert done is not None
            assert done.green or isinstance(done.problem, SluiceError), (
                f"at {process.point!r}: {done.problem!r}"
            )
