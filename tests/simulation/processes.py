"""Processes that take turns: each may be stopped at any step of the protocol, and go on later.

They are greenlets, so that only one runs at a time, and nothing but the history decides which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import greenlet

from tests.simulation.commands import Command


class Process(greenlet.greenlet):
    """One process of the product. `point` is the step at which it stands still."""

    def __init__(self, command: Command, work: Callable[[], None]) -> None:
        super().__init__(self._run)
        self.command = command
        self.result: object = None
        self.point = "start"
        self.whole = True
        self.problem: BaseException | None = None
        self._work = work
        self._left: int | None = None

    def _run(self) -> None:
        try:
            self._work()
        except Exception as problem:
            self.problem = problem

    def go(self, points: int | None) -> bool:
        """Go on, past so many steps of the protocol or to the end. Returns whether it has ended."""
        self._left = points
        self.switch()
        return bool(self.dead)

    def reached(self, point: str) -> None:
        """Stand still here if it is time to."""
        if self._left is None:
            return
        if self._left <= 0:
            self.point = point
            self.whole = False
            self.parent.switch()
        else:
            self._left -= 1


def reached(point: str) -> None:
    """Called at every step that anybody reaches; who is no process goes on."""
    current: Any = greenlet.getcurrent()
    if isinstance(current, Process):
        current.reached(point)
