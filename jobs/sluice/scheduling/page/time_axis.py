"""A time axis: where moments are in a drawing, and which of them are labelled, in UTC. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sluice.offsets.quantities import format_moment

# On a narrow screen there is room for so many labels.
_MOST_TICKS = 4
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_STEPS = (
    *(timedelta(seconds=each) for each in (1, 2, 5, 10, 15, 30)),
    *(_MINUTE * each for each in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * each for each in (1, 2, 3, 6, 12)),
    *(_DAY * each for each in (1, 2, 7, 14, 28, 91, 182, 365, 730, 1825, 3650)),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A label near an end begins or ends there.
_NEAR_END = 10.0


@dataclass(frozen=True)
class Tick:
    """A labelled moment: its place in percent, and which part of its label is there."""

    x: float
    label: str
    anchor: str


@dataclass(frozen=True)
class TimeAxis:
    """From one moment to a later one."""

    start: datetime
    end: datetime

    @classmethod
    def over(cls, moments: Sequence[datetime]) -> TimeAxis:
        """From the first to the last of these, at least a second."""
        first, last = min(moments), max(moments)
        return cls(first, max(last, first + timedelta(seconds=1)))

    def at(self, moment: datetime) -> float:
        """Where a moment is, in percent; those outside are at the ends."""
        share = (moment - self.start) / (self.end - self.start)
        return round(100 * min(1.0, max(0.0, share)), 3)

    @property
    def told(self) -> str:
        """From when to when, in words."""
        return f"{format_moment(self.start)} to {format_moment(self.end)} UTC"

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """At most four moments of a round time."""
        length = self.end - self.start
        step = next((each for each in _STEPS if length / each <= _MOST_TICKS), _STEPS[-1])
        first = _EPOCH + -((_EPOCH - self.start) // step) * step
        found: list[Tick] = []
        at = first if first >= self.start else first + step
        while at <= self.end and len(found) <= _MOST_TICKS:
            found.append(self._tick(at, step))
            at += step
        return tuple(found)

    def _tick(self, at: datetime, step: timedelta) -> Tick:
        x = self.at(at)
        anchor = "start" if x < _NEAR_END else "end" if x > 100 - _NEAR_END else "middle"
        return Tick(x, self._label(at.astimezone(UTC), step), anchor)

    def _label(self, at: datetime, step: timedelta) -> str:
        if step >= _DAY:
            return f"{at:%Y-%m-%d}" if self.end - self.start > 300 * _DAY else f"{at:%m-%d}"
        clock = f"{at:%H:%M:%S}" if step < _MINUTE else f"{at:%H:%M}"
        one_day = self.start.astimezone(UTC).date() == self.end.astimezone(UTC).date()
        return clock if one_day else f"{at:%m-%d} {clock}"
