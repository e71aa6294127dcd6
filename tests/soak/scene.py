"""The scene of a soak: what faults strike at, and how long they wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from local.embedded.broker import Broker
from tests.soak.attempts import Attempts
from tests.soak.diary import Diary
from tests.soak.producers import Target
from tests.soak.schedule import Fault
from tests.worlds.pipelines import Installed


@dataclass(frozen=True)
class Scene:
    """`healing` is set when every fault must come to its end."""

    broker: Broker
    target: Target
    trips: Installed
    attempts: Attempts
    diary: Diary
    healing: threading.Event
    # One fault at a time of those that would undo each other.
    at_the_broker: threading.Lock = field(default_factory=threading.Lock)
    at_the_cursor: threading.Lock = field(default_factory=threading.Lock)

    def last(self, seconds: float) -> None:
        """Let a fault last."""
        self.healing.wait(seconds)

    def until(self, look: Callable[[], bool], seconds: float) -> bool:
        """Look again and again; False when it was not so in time, or when healing begins."""
        deadline = self.diary.now + seconds
        while not (found := look()) and self.diary.now < deadline and not self.healing.is_set():
            self.healing.wait(0.2)
        return found


# Strikes; False when there was nothing to strike at.
Strike = Callable[[Scene, Fault], bool]
