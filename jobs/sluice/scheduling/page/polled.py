"""What is polled: what was read last, how old it is, and why it is not newer.

Whoever looks does not wait for Kafka: a look starts a reading beside it, at most one at a time and
at most one in so many seconds, and shows what the reading before has found. Only where that is old,
or nothing, it waits a moment for the new one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Generic, TypeVar

from sluice.errors import SluiceError

log = logging.getLogger(__name__)

_T = TypeVar("_T")
# What is older than so many times the shortest time between two readings is worth a wait.
_OLD = 3


@dataclass(frozen=True)
class Seen(Generic[_T]):
    """What a look finds.

    `value` was read at `at`; both are None before the first reading ends. `problem` is what the
    last reading failed with. `asked` is when a reading began that is not over.
    """

    value: _T | None = None
    at: datetime | None = None
    problem: str = ""
    asked: datetime | None = None


class Polled(Generic[_T]):
    """One thing that is read again and again, by as many as look at it."""

    def __init__(
        self,
        read: Callable[[], _T],
        every: float = 5.0,
        known: Seen[_T] | None = None,
        turns: threading.Semaphore | None = None,
    ) -> None:
        """`read` may raise anything: its text is shown. `every`: seconds between two readings.

        After a reading that takes longer, there is a pause of the same length. `known` is the
        former value. `turns` limits how many are read at the same time: if none is free, the next
        caller tries again.
        """
        self._read = read
        self._every = every
        self._turns = turns
        self._changed = threading.Condition()
        self._seen: Seen[_T] = known or Seen()
        self._began, self._took, self._ended = 0.0, 0.0, float("-inf")

    @property
    def seen(self) -> Seen[_T]:
        """What is known now; nothing is read for it."""
        with self._changed:
            return self._seen

    def look(self, patience: float = 0.0) -> Seen[_T]:
        """What is known now; where that is old, or nothing, after `patience` seconds at most."""
        with self._changed:
            due = time.monotonic() - self._ended >= max(self._every - self._took, self._took)
            if due and not self._seen.asked and self._has_turn():
                self._start()
            if patience > 0 and time.monotonic() - self._ended > _OLD * self._every:
                self._changed.wait_for(lambda: self._seen.asked is None, patience)
            return self._seen

    def _start(self) -> None:
        self._began = time.monotonic()
        try:
            threading.Thread(target=self._read_once, daemon=True).start()
        except RuntimeError as problem:
            # The system has no thread left now; the next look tries again.
            log.warning("A reading for the page cannot start: %s", problem)
            self._end_turn()
        else:
            self._seen = replace(self._seen, asked=datetime.now(UTC))

    def _end_turn(self) -> None:
        if self._turns is not None:
            self._turns.release()

    def _has_turn(self) -> bool:
        return self._turns is None or self._turns.acquire(blocking=False)

    def _read_once(self) -> None:
        try:
            found = Seen(self._read(), datetime.now(UTC))
        except SluiceError as problem:
            found = replace(self._seen, problem=str(problem), asked=None)
        except Exception as problem:
            # The text of an unknown error may contain a secret: it goes into the log.
            log.exception("A reading for the page failed")
            told = f"{type(problem).__name__}: the log of the api-server says more."
            found = replace(self._seen, problem=told, asked=None)
        with self._changed:
            self._seen = found
            self._ended = time.monotonic()
            self._took = self._ended - self._began
            self._changed.notify_all()
        self._end_turn()
