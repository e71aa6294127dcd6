"""The report: what the contenders took, and the ratios between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from local.bench.competition import Competition, OnStage
from local.bench.figures import Shown, all_of
from local.bench.turns import Turns


@dataclass(frozen=True)
class Size:
    """The turns with one number of records."""

    records: int
    bytes_each: int
    partitions: int
    turns: Turns = field(default_factory=Turns)


def tables(size: Size, competition: Competition[OnStage]) -> Iterator[Shown]:
    """The contenders, and the ratios."""
    turns = size.turns
    what = f"{size.records:,} records of {size.bytes_each} bytes in {size.partitions} partitions"
    contenders = [
        (name, entry.what, f"{turns.median(name):.1f}", all_of(turns.seconds[name], 1))
        for name, entry in competition.entries.items()
        if name in turns.seconds
    ]
    yield Shown(what, [("contender", "what it runs", "median, s", "all turns, s"), *contenders])
    ratios = [
        (
            str(each),
            f"{found.median:.2f}",
            "" if found.at_most is None else f"{found.at_most:.2f}",
            found.word,
            all_of(found.ratios, 2),
        )
        for each in competition.comparisons
        if (found := turns.verdict(each, size.records))
    ]
    if ratios:
        head = ("ratio", "median", "at most", "", "all pairs")
        yield Shown(f"{size.records:,} records: ratios", [head, *ratios])
