"""Offset ranges: topic, partition, `[start, end)`. `end` is the next offset to read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, order=True)
class TopicPartition:
    """One partition of one topic, by name."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}[{self.partition}]"

    def of(self, topic_id: str) -> TopicIdPartition:
        """The same partition of a topic id."""
        return TopicIdPartition(topic_id, self.partition)


@dataclass(frozen=True, order=True)
class OffsetRange:
    """The offsets `[start, end)` of one partition; empty where both are equal.

    Raises ValueError unless `0 <= start <= end`.
    """

    partition: TopicPartition
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"{self.partition} [{self.start}, {self.end}) is not an offset range")

    def __str__(self) -> str:
        return f"{self.partition} [{self.start}, {self.end})"

    @property
    def span(self) -> int:
        """Offsets covered. Compaction and transaction markers leave gaps, so records <= span."""
        return self.end - self.start

    def as_dict(self) -> dict[str, Any]:
        """The range as JSON-able values."""
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "start": self.start,
            "end": self.end,
        }

    def first(self, offsets: int) -> OffsetRange:
        """The range's first offsets, at most this many."""
        return OffsetRange(self.partition, self.start, min(self.start + offsets, self.end))

    def after(self, taken: OffsetRange) -> OffsetRange:
        """What is left of the range after its first part is taken."""
        return OffsetRange(self.partition, taken.end, self.end)


def span_of(ranges: Iterable[OffsetRange]) -> int:
    """Offsets covered by all the ranges together."""
    return sum(each.span for each in ranges)


def first_of(ranges: Iterable[OffsetRange], offsets: int) -> Iterator[OffsetRange]:
    """The first offsets of the ranges together, at most this many; no empty range."""
    for each in ranges:
        taken = each.first(offsets)
        offsets -= taken.span
        if taken.span:
            yield taken


def merged(
    ranges: Iterable[OffsetRange], bridging: int = 0, apart: Iterable[OffsetRange] = ()
) -> list[OffsetRange]:
    """The offsets covered, by partition and ascending, as few ranges as possible.

    `bridging` is how many offsets between two ranges may be covered as well to join them, if none
    of those `apart` is among them.
    """
    barriers = merged(apart) if apart else []
    found: list[OffsetRange] = []
    for each in sorted(each for each in ranges if each.span):
        last = found[-1] if found else each
        if (
            each.partition == last.partition
            and each.start <= last.end + bridging
            and not (each.start > last.end and _meets(last.end, each, barriers))
        ):
            each = OffsetRange(last.partition, last.start, max(last.end, each.end))
            found[-1:] = []
        found.append(each)
    return found


def _meets(start: int, behind: OffsetRange, barriers: Sequence[OffsetRange]) -> bool:
    """Whether one of the barriers, which ascend, has an offset between `start` and a range."""
    gap = OffsetRange(behind.partition, start, behind.start)
    at = bisect_right(barriers, gap)
    near = barriers[max(0, at - 1) : at + 1]
    return any(
        each.partition == gap.partition and max(each.start, gap.start) < min(each.end, gap.end)
        for each in near
    )


def without(ranges: Iterable[OffsetRange], taken: Iterable[OffsetRange]) -> list[OffsetRange]:
    """The offsets covered by the ranges but not by the taken ones, as few ranges as possible."""
    left = merged(ranges)
    for hole in taken:
        left = [part for each in left for part in _outside(each, hole)]
    return left


def within(ranges: Iterable[OffsetRange], bounds: Iterable[OffsetRange]) -> list[OffsetRange]:
    """The offsets covered by both, as few ranges as possible."""
    mine, theirs = merged(ranges), merged(bounds)
    found: list[OffsetRange] = []
    while mine and theirs:
        one, other = mine[0], theirs[0]
        if one.partition == other.partition:
            start, end = max(one.start, other.start), min(one.end, other.end)
            if start < end:
                found.append(OffsetRange(one.partition, start, end))
        # The one that ends first meets nothing more.
        behind = mine if (one.partition, one.end) <= (other.partition, other.end) else theirs
        behind.pop(0)
    return found


def _outside(whole: OffsetRange, hole: OffsetRange) -> Iterator[OffsetRange]:
    if whole.partition != hole.partition or not hole.span:
        yield whole
        return
    below = OffsetRange(whole.partition, whole.start, max(whole.start, min(hole.start, whole.end)))
    above = OffsetRange(whole.partition, min(max(hole.end, whole.start), whole.end), whole.end)
    yield from (part for part in (below, above) if part.span)


class TopicIdPartition(NamedTuple):
    """A partition of a topic id, as rows name it; partition -1 where a row names none."""

    topic_id: str
    partition: int
