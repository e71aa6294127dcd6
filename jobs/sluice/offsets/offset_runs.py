"""Offset runs: very many offsets of one partition as ranges that do not touch, in arrays. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.receipts import Span
from sluice.offsets.row_offsets import NO_ROWS, Offsets


@dataclass(frozen=True)
class OffsetRuns:
    """The starts and ends of the runs, ascending."""

    starts: Offsets
    ends: Offsets

    @classmethod
    def of(cls, offsets: Offsets) -> OffsetRuns:
        """These offsets, in whatever order, each as often as it likes."""
        return cls(offsets, offsets + 1).bridged()

    @classmethod
    def of_range(cls, offsets: OffsetRange) -> OffsetRuns:
        """The offsets of one range."""
        if not offsets.span:
            return NO_RUNS
        return cls(np.array([offsets.start]), np.array([offsets.end]))

    @classmethod
    def together(cls, several: Iterable[OffsetRuns]) -> OffsetRuns:
        """The offsets of all of them."""
        found = [NO_RUNS, *several]
        starts, ends = ([getattr(each, name) for each in found] for name in ("starts", "ends"))
        return cls(np.concatenate(starts), np.concatenate(ends)).bridged()

    @property
    def span(self) -> int:
        """How many offsets there are."""
        return int((self.ends - self.starts).sum())

    @property
    def spans(self) -> list[Span]:
        """The runs as starts and ends."""
        return list(zip(self.starts.tolist(), self.ends.tolist(), strict=True))

    def bridged(self, bridging: int = 0) -> OffsetRuns:
        """The same, with the offsets between two runs that are no more than `bridging`."""
        if not len(self.starts):
            return self
        order = np.argsort(self.starts, kind="stable")
        starts, ends = self.starts[order], np.maximum.accumulate(self.ends[order])
        begins = np.append(True, starts[1:] > ends[:-1] + bridging)
        last = np.append(np.flatnonzero(begins)[1:] - 1, len(starts) - 1)
        return OffsetRuns(starts[begins], ends[last])

    def without(self, taken: OffsetRuns) -> OffsetRuns:
        """These offsets, except the taken ones."""
        return self & taken._complement() if len(taken.starts) else self

    def __and__(self, other: OffsetRuns) -> OffsetRuns:
        """The offsets that are in both."""
        if not len(self.starts) or not len(other.starts):
            return NO_RUNS
        # Each run of ours meets those of the other from its first one that ends behind our start.
        first = np.searchsorted(other.ends, self.starts, side="right")
        behind = np.searchsorted(other.starts, self.ends, side="left")
        met = np.maximum(behind - first, 0)
        mine = np.repeat(np.arange(len(self.starts)), met)
        theirs = np.arange(met.sum()) - np.repeat(np.cumsum(met) - met, met) + first[mine]
        starts = np.maximum(self.starts[mine], other.starts[theirs])
        return OffsetRuns(starts, np.minimum(self.ends[mine], other.ends[theirs]))

    def ranges(self, partition: TopicPartition) -> Iterator[OffsetRange]:
        """The runs as ranges of a partition."""
        for start, end in self.spans:
            yield OffsetRange(partition, start, end)

    def _complement(self) -> OffsetRuns:
        limits = np.iinfo(np.int64)
        starts = np.append(limits.min, self.ends)
        return OffsetRuns(starts, np.append(self.starts, limits.max))


NO_RUNS = OffsetRuns(NO_ROWS.offsets, NO_ROWS.offsets)
