"""Range columns: very many ranges of batches as arrays, and the offsets to look up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from sluice.offsets.batches import BatchSequence
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition, merged
from sluice.offsets.row_offsets import NO_ROWS, Mask, Offsets

LAST_OFFSET = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class OffsetScope:
    """Some offsets of some partitions: for each the starts and ends of ranges that do not touch."""

    places: Mapping[TopicIdPartition, tuple[Offsets, Offsets]]

    @classmethod
    def whole(cls, places: Iterable[TopicIdPartition]) -> OffsetScope:
        """All offsets of these partitions; also -1, which stands for a null."""
        everything = np.array([-1], dtype=np.int64), np.array([LAST_OFFSET], dtype=np.int64)
        return cls(dict.fromkeys(places, everything))

    @classmethod
    def of_ranges(cls, ranges: Mapping[TopicIdPartition, Sequence[OffsetRange]]) -> OffsetScope:
        """The offsets of these ranges."""
        return cls({place: _bounds(merged(found)) for place, found in ranges.items()})

    @classmethod
    def of_offsets(cls, offsets: Mapping[TopicIdPartition, Offsets]) -> OffsetScope:
        """These offsets."""
        single = {place: np.unique(found) for place, found in offsets.items()}
        return cls({place: (found, found + 1) for place, found in single.items()})

    @property
    def bounds(self) -> tuple[int, int]:
        """From the lowest to behind the highest of the offsets, in any partition."""
        starts = [found[0] for found, _ in self.places.values() if len(found)]
        ends = [found[-1] for _, found in self.places.values() if len(found)]
        return (int(min(starts)), int(max(ends))) if starts else (0, 0)

    def touches(self, place: TopicIdPartition, starts: Offsets, ends: Offsets) -> Mask:
        """Which ranges of a partition contain one of the offsets, or lie, empty, among them."""
        if place not in self.places:
            return np.zeros(len(starts), dtype=bool)
        mine = self.places[place]
        # The first of our ranges that ends behind the start.
        at = np.searchsorted(mine[1], starts, side="right")
        begins = np.append(mine[0], LAST_OFFSET)[at]
        found: Mask = (begins < ends) | (begins <= starts) & (at < len(mine[0]))
        return found

    def contains(self, place: TopicIdPartition, offsets: Offsets) -> Mask:
        """Which offsets of a partition are among them."""
        return self.touches(place, offsets, offsets + 1)


def _bounds(ranges: Sequence[OffsetRange]) -> tuple[Offsets, Offsets]:
    return (
        np.array([each.start for each in ranges], dtype=np.int64),
        np.array([each.end for each in ranges], dtype=np.int64),
    )


NumberedBatch = tuple[BatchSequence, int]


@dataclass(frozen=True)
class RangeColumns:
    """Ranges of batches, an element of each array for each range.

    `sequence` and `place` are indexes into `sequences` and `places`. `version`, `records` and
    `quarantined` are those of receipts, and the gaps by markers and by aborted records; -1 in
    plans. So is `filtered`; -1 also in receipts of before there was such a count.
    """

    sequences: Sequence[BatchSequence] = ()
    places: Sequence[tuple[TopicIdPartition, TopicPartition]] = ()
    sequence: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    number: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    place: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    start: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    end: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    version: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    records: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    quarantined: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    control: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    aborted: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    filtered: Offsets = field(default_factory=lambda: NO_ROWS.offsets)

    @classmethod
    def together(
        cls,
        sequences: Sequence[BatchSequence],
        places: Sequence[tuple[TopicIdPartition, TopicPartition]],
        parts: Iterable[RangeColumns],
    ) -> RangeColumns:
        """All the parts, whose indexes are into these sequences and places."""
        several = [cls(), *parts]
        arrays = {name: np.concatenate([getattr(e, name) for e in several]) for name in _ARRAYS}
        return cls(sequences, places, **arrays)

    def __len__(self) -> int:
        return len(self.number)

    def only(self, chosen: Mask | Offsets) -> RangeColumns:
        """The ranges that a mask or indexes choose."""
        columns = {name: getattr(self, name)[chosen] for name in _ARRAYS}
        return RangeColumns(self.sequences, self.places, **columns)

    def batches(self) -> Iterator[tuple[NumberedBatch, int]]:
        """Each batch once, with the index of one of its ranges."""
        pairs = np.stack([self.sequence, self.number])
        batches, first = np.unique(pairs, axis=1, return_index=True)
        for (code, number), at in zip(batches.T.tolist(), first.tolist(), strict=True):
            yield (self.sequences[code], number), at

    @cached_property
    def _by_place(self) -> tuple[Offsets, Offsets, Mapping[TopicIdPartition, int]]:
        order = np.lexsort((self.number, self.sequence, self.place))
        bounds = np.searchsorted(self.place[order], np.arange(len(self.places) + 1))
        return order, bounds, {each: code for code, (each, _) in enumerate(self.places)}

    def at(self, place: TopicIdPartition) -> RangeColumns:
        """The ranges of a partition, by sequence and number."""
        order, bounds, codes = self._by_place
        if place not in codes:
            return self.only(np.array([], dtype=np.int64))
        code = codes[place]
        return self.only(order[bounds[code] : bounds[code + 1]])

    def batch(self, index: int) -> NumberedBatch:
        """The batch of one of the ranges."""
        return self.sequences[self.sequence[index]], int(self.number[index])

    def range(self, index: int) -> OffsetRange:
        """One of the ranges."""
        partition = self.places[self.place[index]][1]
        return OffsetRange(partition, int(self.start[index]), int(self.end[index]))


_ARRAYS = tuple(
    each.name for each in fields(RangeColumns) if each.name not in ("sequences", "places")
)
