"""The diary of a soak: what happened when, which faults were in force, and what was found."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# How long after its end a fault may still be the reason of a failure: clients have to reconnect.
SLACK = 15.0


class Diary:
    """Threads write into it; it is kept as a file too."""

    def __init__(self, file: Path) -> None:
        self.began = time.monotonic()
        self.injected: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()
        self.findings: list[str] = []
        self._file = file
        self._lock = threading.Lock()
        self._in_force: list[list[Any]] = []

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.began

    def begin(self) -> None:
        """From here on time is counted."""
        self.began = time.monotonic()

    def write(self, line: str) -> None:
        with self._lock, self._file.open("a", encoding="utf-8") as out:
            out.write(f"{self.now:8.2f}  {line}\n")

    def find(self, finding: str) -> None:
        """Something that must not be."""
        self.findings.append(finding)
        self.write(f"FOUND {finding}")

    @contextmanager
    def in_force(self, *excuses: str) -> Iterator[None]:
        """While this lasts, and shortly after, any process may end like this."""
        window: list[Any] = [self.now, float("inf"), excuses]
        self._in_force.append(window)
        try:
            yield
        finally:
            window[1] = self.now + SLACK

    def excuses(self, started: float, ended: float) -> Set[str]:
        """Those of the faults that were in force at any time between."""
        return {
            each
            for since, until, excuses in list(self._in_force)
            if since <= ended and started <= until
            for each in excuses
        }
