"""Evidence: what was found of one partition of one topic id, and what follows from it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sluice.planning.ranges import OffsetRange, TopicPartition
from sluice.proof.accounting import Counted

Offsets = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Read:
    """The range of one committed batch, and the version of the data table it landed in.

    `due` tells whether it must have a receipt by now; `receipts` are those that it has.
    """

    batch: str
    forward: bool
    generation: int
    offsets: OffsetRange
    version: int
    due: bool
    receipts: Sequence[Counted]


@dataclass(frozen=True)
class Rows:
    """The offsets of rows, and for each the place among the reads of the batch that wrote it.

    The place is -1 where that batch is none of the partition's reads.
    """

    offsets: Offsets
    reads: Offsets

    def only(self, mask: Mask) -> Rows:
        """Those that the mask selects."""
        return Rows(self.offsets[mask], self.reads[mask])

    def and_(self, other: Rows) -> Rows:
        """All of both."""
        both = (self.offsets, other.offsets), (self.reads, other.reads)
        return Rows(*map(np.concatenate, both))


NO_ROWS = Rows(np.array([], dtype=np.int64), np.array([], dtype=np.int64))


@dataclass(frozen=True)
class Evidence:
    """What was found of one partition.

    `reads` are in the order they landed in; `openings` tell where a reset lets a generation begin;
    `lost` are recorded losses. `readable` is what Kafka still holds of the reads, and `visible` the
    offsets there that a read_committed client sees. `quarantined` are all rows, live or not, and
    `deleted` those that others took out of the data table, by the version that did so.
    """

    partition: TopicPartition
    reads: Sequence[Read]
    openings: Mapping[int, int]
    lost: Sequence[OffsetRange]
    readable: Sequence[OffsetRange]
    visible: Offsets
    data: Rows
    quarantined: Rows
    deleted: Mapping[int, Rows]
    compacts: bool

    @cached_property
    def live(self) -> Rows:
        """The quarantine rows of committed batches whose offset none has read again since.

        What Kafka did not hold any more, a later batch over the same range has not read.
        """
        rows = self.quarantined.only(self.quarantined.reads >= 0)
        latest = self.newest_read(rows.offsets)
        read_again = np.isin(rows.offsets, self.visible)
        read_again |= self._newest_row(rows.offsets) > rows.reads
        return rows.only((latest <= rows.reads) | ~read_again)

    @cached_property
    def stored(self) -> Rows:
        """The rows that count, of both tables."""
        return self.data.and_(self.live)

    @cached_property
    def excused(self) -> Offsets:
        """The offsets whose rows others deleted, and that no batch has read since."""
        versions = np.array([read.version for read in self.reads] + [-1], dtype=np.int64)
        found = [
            rows.offsets[versions[self.newest_read(rows.offsets)] < version]
            for version, rows in self.deleted.items()
        ]
        return np.unique(np.concatenate([*found, NO_ROWS.offsets]))

    @cached_property
    def gone(self) -> Rows:
        """The rows that others deleted and that have not come back, each once."""
        everything = NO_ROWS
        for rows in self.deleted.values():
            everything = everything.and_(rows)
        pairs = np.stack([everything.offsets, everything.reads], axis=1)
        once = np.unique(pairs, axis=0).reshape(-1, 2)
        rows = Rows(once[:, 0], once[:, 1])
        return rows.only(~np.isin(rows.offsets, self.data.offsets))

    def newest_read(self, offsets: Offsets) -> Offsets:
        """For each offset the place of the last batch over it, -1 where there is none."""
        order = np.argsort(offsets, kind="stable")
        ascending, found = offsets[order], np.full(len(offsets), -1, dtype=np.int64)
        for place, read in enumerate(self.reads):
            low, high = np.searchsorted(ascending, (read.offsets.start, read.offsets.end))
            found[order[low:high]] = place
        return found

    def read_again(self, place: int) -> bool:
        """Whether a later batch has read a part of a batch's range again."""
        mine = self.reads[place].offsets
        return any(
            max(each.offsets.start, mine.start) < min(each.offsets.end, mine.end)
            for each in self.reads[place + 1 :]
        )

    def _newest_row(self, offsets: Offsets) -> Offsets:
        """For each offset the place of the last batch that has, or had, a row of it; else -1."""
        rows = self.data.and_(self.quarantined).and_(self.gone)
        wanted = np.unique(offsets)
        mine = rows.only(np.isin(rows.offsets, wanted))
        newest = np.full(len(wanted), -1, dtype=np.int64)
        np.maximum.at(newest, np.searchsorted(wanted, mine.offsets), mine.reads)
        return newest[np.searchsorted(wanted, offsets)]
