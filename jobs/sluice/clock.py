"""Clock and chance: the time of day, waiting, and random numbers.

Both are ports: a test that owns them can let years pass, and repeat a history exactly.
"""

from __future__ import annotations

import random
import time
import uuid
from datetime import UTC, datetime
from typing import Protocol

from tenacity import RetryCallState
from tenacity.wait import wait_base


class Clock(Protocol):
    """The time of day, and waiting."""

    def now(self) -> datetime:
        """The time of day, in UTC."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class Chance(Protocol):
    """Random numbers and names."""

    def name(self) -> str:
        """A unique name: 32 hexadecimal digits."""

    def share(self) -> float:
        """A number in [0, 1)."""


class SystemClock:
    """This machine's."""

    def now(self) -> datetime:
        """The time of day, in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class SystemChance:
    """This machine's."""

    def name(self) -> str:
        """A unique name: 32 hexadecimal digits."""
        return uuid.uuid4().hex

    def share(self) -> float:
        """A number in [0, 1)."""
        return random.random()


SYSTEM_CLOCK = SystemClock()
SYSTEM_CHANCE = SystemChance()


class LongerAtRandom(wait_base):
    """A wait of at most twice as long each time, shortened by a random share.

    Without chance, two processes that met once would go on meeting.
    """

    def __init__(self, chance: Chance, first: float, longest: float) -> None:
        """`first` and `longest` are in seconds."""
        self._chance, self._first, self._longest = chance, first, longest

    def __call__(self, retry_state: RetryCallState) -> float:
        """How long to wait after an attempt, in seconds."""
        doubled = self._first * 2.0 ** min(retry_state.attempt_number - 1, 30)
        return min(doubled, self._longest) * self._chance.share()
