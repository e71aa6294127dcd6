"""The turns: what each contender took in each, their medians, and the ratios of pairs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Each = TypeVar("Each")


def in_order(contenders: Sequence[Each], turn: int) -> list[Each]:
    """Who runs after whom: every second turn goes backwards, so that no place is an advantage."""
    return list(contenders) if turn % 2 == 0 else list(contenders)[::-1]


@dataclass
class Turns:
    """Seconds by contender: an entry for each turn."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, contender: str, seconds: float) -> None:
        """Note a turn of a contender."""
        self.seconds.setdefault(contender, []).append(seconds)

    def median(self, contender: str) -> float:
        """The median of its turns."""
        return statistics.median(self.seconds[contender])

    def ratios(self, comparison: Comparison) -> list[float]:
        """Pair by pair: both sides of a ratio ran in the same turn."""
        ours, theirs = self.seconds.get(comparison.ours, []), self.seconds.get(comparison.theirs)
        return [one / other for one, other in zip(ours, theirs or [], strict=False)]

    def verdict(self, comparison: Comparison, records: int) -> Verdict | None:
        """The comparison's outcome; None while one of the two has had no turn."""
        ratios = self.ratios(comparison)
        if not ratios:
            return None
        return Verdict(ratios, statistics.median(ratios), comparison.at_most.get(records))


@dataclass(frozen=True)
class Comparison:
    """A contender beside another, and for some numbers of records the most that it may be."""

    ours: str
    theirs: str
    at_most: Mapping[int, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.ours} / {self.theirs}"


@dataclass(frozen=True)
class Verdict:
    """The ratios of all pairs, their median, and what it may be at most (None: nothing is said)."""

    ratios: Sequence[float]
    median: float
    at_most: float | None

    @property
    def word(self) -> str:
        """Whether the median is within its limit."""
        if self.at_most is None:
            return ""
        return "met" if self.median <= self.at_most else "MISSED"
