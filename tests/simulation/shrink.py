"""Shrinking: the shortest history found that leads to the same finding."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.simulation.history import History, Step
from tests.simulation.play import Played, play


def shrink(
    history: History,
    kind: str,
    seconds: float = 60.0,
    playing: Callable[[History], Played] = play,
) -> History:
    """Leave out steps, then make numbers small, as long as the finding is of the same kind."""
    shrinking = _Shrinking(history, kind, time.monotonic() + seconds, playing)
    size = max(1, len(history.steps) // 2)
    while size:
        left_out = shrinking.leave_out(size)
        # Single steps are tried until none can go any more.
        size = 1 if size == 1 and left_out else size // 2
    shrinking.simplify()
    return shrinking.history


@dataclass
class _Shrinking:
    """The shortest history so far; nothing is tried any more after a moment."""

    history: History
    kind: str
    until: float
    playing: Callable[[History], Played]

    def leave_out(self, size: int) -> bool:
        """Leave out so many steps at once, from the end on; whether any could go."""
        before = len(self.history.steps)
        for start in range(before - size, -1, -size):
            steps = self.history.steps
            self._take(self.history.with_steps([*steps[:start], *steps[start + size :]]))
        return len(self.history.steps) < before

    def simplify(self) -> None:
        """The first setting, and zeros for numbers."""
        self._take(History(self.history.seed, 0, self.history.steps))
        for at in range(len(self.history.steps)):
            for number in range(4):
                steps = list(self.history.steps)
                draws = list(steps[at].draws)
                if draws[number]:
                    draws[number] = 0
                    steps[at] = Step(steps[at].name, (draws[0], draws[1], draws[2], draws[3]))
                    self._take(self.history.with_steps(steps))

    def _take(self, candidate: History) -> None:
        if time.monotonic() < self.until:
            found = self.playing(candidate).finding
            if found is not None and found.kind == self.kind:
                self.history = candidate
