"""Shrinking: the shortest history found that leads to the same finding."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tests.simulation.history import History, Step
from tests.simulation.play import play


def shrink(history: History, kind: str, seconds: float = 60.0) -> History:
    """Leave out steps, then make numbers small, as long as the finding is of the same kind."""
    until = time.monotonic() + seconds
    smaller = True
    while smaller and time.monotonic() < until:
        smaller = False
        for candidate in _smaller(history):
            if time.monotonic() > until:
                break
            found = play(candidate).finding
            if found is not None and found.kind == kind:
                history, smaller = candidate, True
                break
    return history


def _smaller(history: History) -> Iterator[History]:
    steps = list(history.steps)
    size = len(steps) // 2
    while size:
        for start in range(len(steps) - size, -1, -size):
            yield history.with_steps(steps[:start] + steps[start + size :])
        size //= 2
    if history.setting:
        yield History(history.seed, 0, history.steps)
    for at, step in enumerate(steps):
        for number in range(4):
            if step.draws[number]:
                draws = list(step.draws)
                draws[number] = 0
                smaller = Step(step.name, (draws[0], draws[1], draws[2], draws[3]))
                yield history.with_steps([*steps[:at], smaller, *steps[at + 1 :]])
