"""The figures: what a bench has measured, as tables of text."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from local.bench.turns import Comparison, Size


@dataclass(frozen=True)
class Shown:
    """A table as text: a title, and lines of which the first is the head."""

    title: str
    lines: Sequence[Sequence[str]]


def taken(title: str, head: Sequence[str], cells: Mapping[str, Sequence[str]], size: Size) -> Shown:
    """What each contender took: its cells, the median, and every turn."""
    turns = size.turns
    lines = [
        (name, *about, f"{turns.median(name):.1f}", all_of(turns.seconds[name], 1))
        for name, about in cells.items()
        if name in turns.seconds
    ]
    return Shown(title, [(*head, "median, s", "all turns, s"), *lines])


def compared(title: str, comparisons: Sequence[Comparison], size: Size) -> list[Shown]:
    """The ratios of those that had turns; no table without any."""
    lines = [
        (str(each), *judged(ratios, each.at_most.get(size.records), 2, 2), all_of(ratios, 2))
        for each in comparisons
        if (ratios := size.turns.ratios(each))
    ]
    head = ("ratio", "median", "at most", "", "all pairs")
    return [Shown(f"{title}: ratios", [head, *lines])] if lines else []


def judged(
    values: Sequence[float], at_most: float | None, digits: int, of_limit: int
) -> tuple[str, str, str]:
    """Their median, what it may be at most, and whether it is; without a limit, only the median."""
    median = statistics.median(values)
    if at_most is None:
        return f"{median:.{digits}f}", "", ""
    word = "met" if median <= at_most else "MISSED"
    return f"{median:.{digits}f}", f"{at_most:.{of_limit}f}", word


def all_of(values: Sequence[float], digits: int) -> str:
    """Every single value: a median hides how far they lie apart."""
    return " ".join(f"{value:.{digits}f}" for value in values)
