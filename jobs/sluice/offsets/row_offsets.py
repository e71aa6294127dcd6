"""Row offsets: a table's rows as offsets, each with the batch that wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sluice.offsets.ranges import OffsetRange

Offsets = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """The offsets of rows, and for each the index of its batch among the partition's reads.

    The index is -1 where that batch is not one of the reads.
    """

    offsets: Offsets
    reads: Offsets

    def only(self, mask: Mask) -> Rows:
        """The rows that the mask selects."""
        return Rows(self.offsets[mask], self.reads[mask])

    def and_(self, other: Rows) -> Rows:
        """The rows of both."""
        both = (self.offsets, other.offsets), (self.reads, other.reads)
        return Rows(*map(np.concatenate, both))


NO_ROWS = Rows(np.array([], dtype=np.int64), np.array([], dtype=np.int64))


def offsets_of(ranges: Iterable[OffsetRange]) -> Offsets:
    """The offsets of some ranges of one partition, ascending, each once."""
    each = (np.arange(one.start, one.end, dtype=np.int64) for one in ranges)
    return np.unique(np.concatenate([NO_ROWS.offsets, *each]))


def latest(offsets: Offsets, ranges: Iterable[tuple[OffsetRange, int]]) -> Offsets:
    """For each offset the number of the last range that contains it, -1 where none does."""
    order = np.argsort(offsets, kind="stable")
    ascending, found = offsets[order], np.full(len(offsets), -1, dtype=np.int64)
    for each, number in ranges:
        low, high = np.searchsorted(ascending, (each.start, each.end))
        found[order[low:high]] = number
    return found


def newest(rows: Rows) -> Rows:
    """Each offset of the rows, ascending, with its last read."""
    offsets, at = np.unique(rows.offsets, return_inverse=True)
    last = np.full(len(offsets), -1, dtype=np.int64)
    np.maximum.at(last, at, rows.reads)
    return Rows(offsets, last)


def read_of(rows: Rows, offsets: Offsets) -> Offsets:
    """For each offset the read that rows have there, -1 where they have none.

    The rows ascend, one for an offset.
    """
    at = np.searchsorted(rows.offsets, offsets)
    there = np.append(rows.offsets, -1)[at] == offsets
    return np.where(there, np.append(rows.reads, -1)[at], -1)


def once(several: Iterable[Rows]) -> Rows:
    """All the rows, without duplicates."""
    everything = NO_ROWS
    for rows in several:
        everything = everything.and_(rows)
    pairs = np.stack([everything.offsets, everything.reads], axis=1)
    once = np.unique(pairs, axis=0).reshape(-1, 2)
    return Rows(once[:, 0], once[:, 1])
