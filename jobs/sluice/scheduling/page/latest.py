"""The latest: what was read last, how old it is, and why it is not newer.

Whoever looks never waits for Kafka: a look starts a reading beside it, at most one at a time and at
most one in so many seconds, and shows what the reading before has found.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True)
class Seen(Generic[_T]):
    """What a look finds: the value, when it was read, and what the last reading failed with."""

    value: _T | None = None
    at: datetime | None = None
    problem: str = ""
    reading: bool = False


class Latest(Generic[_T]):
    """One thing that is read again and again, by as many as look at it."""

    def __init__(self, read: Callable[[], _T], every: float = 5.0) -> None:
        """`read` may raise anything: its text is shown. `every`: seconds between two readings."""
        self._read = read
        self._every = every
        self._changed = threading.Condition()
        self._seen: Seen[_T] = Seen()
        self._began = float("-inf")

    def look(self, patience: float = 0.0) -> Seen[_T]:
        """What is known now; where nothing is known yet, after `patience` seconds at most."""
        with self._changed:
            due = time.monotonic() - self._began >= self._every
            if due and not self._seen.reading:
                self._began = time.monotonic()
                self._seen = Seen(self._seen.value, self._seen.at, self._seen.problem, True)
                threading.Thread(target=self._read_once, daemon=True).start()
            if self._seen.at is None and not self._seen.problem:
                self._changed.wait(patience)
            return self._seen

    def _read_once(self) -> None:
        try:
            found = Seen(self._read(), datetime.now(UTC))
        except Exception as problem:
            found = Seen(self._seen.value, self._seen.at, f"{type(problem).__name__}: {problem}")
        with self._changed:
            self._seen = found
            self._changed.notify_all()
