"""A clock and chance that the simulation owns: nothing waits, and no name is drawn twice."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

# After all that delta-rs takes for now: it goes by the machine's clock, and removes commits that
# are older than the log's retention, which the oracle could not read any more.
_BEGINNING = datetime(2060, 1, 1, tzinfo=UTC)


class OwnClock:
    """Time passes when somebody waits, or when the simulation says so."""

    def __init__(self, beginning: datetime = _BEGINNING) -> None:
        self._now = beginning

    def now(self) -> datetime:
        """A millisecond later than when it was last asked."""
        self._now += timedelta(milliseconds=1)
        return self._now

    def sleep(self, seconds: float) -> None:
        """The time is over at once."""
        self.advance(timedelta(seconds=seconds))

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self._now += by


def files_in_own_time(folder: Path, clock: OwnClock) -> None:
    """Data files that delta-rs wrote are as old as the simulation says, or a VACUUM takes them."""
    beginning = _BEGINNING.timestamp()
    for each in folder.rglob("*.parquet"):
        if each.stat().st_mtime < beginning:
            now = clock.now().timestamp()
            os.utime(each, (now, now))


class OwnChance:
    """The same names in the same order for the same seed."""

    def __init__(self, seed: str) -> None:
        self._seed, self._drawn = seed, 0

    def name(self) -> str:
        """32 hexadecimal digits."""
        self._drawn += 1
        return hashlib.md5(f"{self._seed}:{self._drawn}".encode()).hexdigest()

    def share(self) -> float:
        """The middle."""
        return 0.5
