"""A play: one history from its beginning to its finding, or to its end."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
from deltalake.exceptions import DeltaError

from tests.simulation.actions import ACTIONS
from tests.simulation.finale import finale
from tests.simulation.history import History, Step
from tests.simulation.judge import Judge
from tests.simulation.oracle import Finding
from tests.simulation.own_time import files_in_own_time
from tests.simulation.settings import setting_of
from tests.simulation.world import World, switching

_IN_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Played:
    """How a history went: its finding, if there is one, and what each step did."""

    finding: Finding | None
    # The history's own, and those of the operator at its end.
    actions: int
    told: Sequence[str] = field(default=())
    # The steps that were played and did something.
    done: Sequence[Step] = field(default=())


@contextmanager
def a_world(history: History) -> Iterator[World]:
    """A world in a folder in memory, which is gone afterwards."""
    place = _IN_MEMORY if _IN_MEMORY.is_dir() else None
    folder = Path(mkdtemp(prefix="sluice-simulation-", dir=place))
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with switching():
            yield World.begin(folder, setting_of(history.setting), history.seed)
    finally:
        logging.disable(level)
        shutil.rmtree(folder, ignore_errors=True)


def play(history: History, ends: bool = True, at_once: int | None = None) -> Played:
    """Play it; with `ends`, faults stop after the last step, and the pipeline has to catch up.

    With `at_once`, no more faults come before a run has ended well.
    """
    with a_world(history) as world:
        judge = Judge(world, proves_refusals=history.setting % 2 == 0)
        done = []
        for step in history.steps:
            fault = ACTIONS[step.name].fault
            if fault and at_once is not None and len(world.faults) >= at_once:
                continue
            before = len(world.told)
            finding = act(judge, world, step)
            # The first line names it.
            if len(world.told) > before + 1:
                done.append(step)
                world.faults += [step.name] if fault else []
            if finding:
                return Played(finding, judge.judged_actions, world.told, done)
        finding = finale(judge, world) if ends else None
        return Played(finding, judge.judged_actions, world.told, done)


def act(judge: Judge, world: World, step: Step) -> Finding | None:
    """One step, and what the oracle says of it."""
    world.done = None
    world.tell(f"- {step.name}")
    judge.before()
    try:
        ACTIONS[step.name].act(world, step.draws)
    except (DeltaError, pa.ArrowException, OSError) as problem:
        # Other people's tools may refuse what they are asked, as on a table that is damaged.
        world.tell(f"  not done: {type(problem).__name__}: {str(problem).splitlines()[:1]}")
    files_in_own_time(world.warehouse, world.clock)
    return judge.after()
