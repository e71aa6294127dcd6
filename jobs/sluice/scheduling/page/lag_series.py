"""Lag series: the lag of pipelines over time, for the list, read beside those who look.

One pipeline is read after another, and again only when its last batch has changed: the list itself
reads no table for it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sluice.errors import SluiceError
from sluice.scheduling.page.lag_over_time import LagPoint
from sluice.scheduling.page.rows import Row

log = logging.getLogger(__name__)

# A batch of very many partitions is very many rows: so many rows are read for one picture.
_ROWS, _FEWEST, _MOST = 2000, 2, 48
# A reading is followed by a pause of so many times its length: those who look go first.
_PAUSES, _LONGEST_PAUSE_S = 4, 2.0

Points = tuple[LagPoint, ...]


@dataclass(frozen=True)
class _Known:
    """What was read when a batch was the last one."""

    last: str
    points: Points


class LagSeries:
    """The series of the pipelines that were looked at."""

    def __init__(self, read: Callable[[str, int], Points]) -> None:
        """`read` returns what so many newest batches of a pipeline say."""
        self._read = read
        self._guard = threading.Lock()
        self._known: dict[str, _Known] = {}
        self._due: OrderedDict[str, tuple[str, int]] = OrderedDict()
        self._is_reading = False

    def look(self, rows: Iterable[Row]) -> Mapping[str, Points]:
        """What is known of these pipelines; what is due is read, and shown to the next look."""
        wanted = {row.name: (_last(row), _batches(row)) for row in rows if row.last}
        with self._guard:
            for name, (last, count) in wanted.items():
                if name not in self._known or self._known[name].last != last:
                    self._due[name] = last, count
            self._start()
            return {name: self._known[name].points for name in wanted if name in self._known}

    def is_due(self, rows: Iterable[Row]) -> bool:
        """Whether any of these is still to be read."""
        with self._guard:
            return any(row.name in self._due for row in rows)

    def _start(self) -> None:
        if self._is_reading or not self._due:
            return
        try:
            threading.Thread(target=self._read_due, daemon=True).start()
        except RuntimeError as problem:
            log.warning("The lag over time cannot be read now: %s", problem)
        else:
            self._is_reading = True

    def _read_due(self) -> None:
        while True:
            with self._guard:
                if not self._due:
                    self._is_reading = False
                    return
                name, (last, count) = next(iter(self._due.items()))
            began = time.monotonic()
            points = self._read_one(name, count)
            with self._guard:
                self._known[name] = _Known(last, points)
                if self._due.get(name) == (last, count):
                    del self._due[name]
            time.sleep(min(_LONGEST_PAUSE_S, _PAUSES * (time.monotonic() - began)))

    def _read_one(self, name: str, count: int) -> Points:
        """The points; none where the tables cannot be read, which the list says for itself."""
        try:
            return self._read(name, count)
        except SluiceError as problem:
            log.info("%s: its lag over time cannot be read: %s", name, problem)
        except Exception:
            log.exception("%s: its lag over time cannot be read", name)
        return ()


def _last(row: Row) -> str:
    assert row.last is not None, "only pipelines with a batch are read"
    return f"{row.last.receipt.batch} {row.last.settled.at.isoformat()}"


def _batches(row: Row) -> int:
    assert row.last is not None, "only pipelines with a batch are read"
    partitions = max(1, len(row.last.receipt.counted))
    return min(_MOST, max(_FEWEST, _ROWS // partitions))
