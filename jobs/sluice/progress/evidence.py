"""Evidence: the facts about one partition of one topic id, and what follows from them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.row_offsets import NO_ROWS, Mask, Offsets, Rows


@dataclass(frozen=True)
class CountedRange:
    """A line of a receipt: a range, and how many of its offsets became rows."""

    offsets: OffsetRange
    records: int
    quarantined: int


@dataclass(frozen=True)
class CommittedRange:
    """The range of one committed batch, and the version of the data table it landed in.

    `due` says whether it must have a receipt by now; `receipts` are those it has. One that is not
    `checked` itself is there because its rows may be among those of others.
    """

    batch: str
    forward: bool
    generation: int
    offsets: OffsetRange
    version: int
    due: bool
    receipts: Sequence[CountedRange]
    checked: bool = True


@dataclass(frozen=True)
class DroppedRecords:
    """Quarantined records of a batch that the operator dropped."""

    batch: str
    offsets: OffsetRange


@dataclass(frozen=True)
class Evidence:
    """The facts about one partition.

    `reads` are in the order they landed; `openings` say where a reset starts a generation; `lost`
    are recorded losses, and `given_up` those of them that a person decided on although Kafka or the
    table may hold them. `readable` is what Kafka still holds of the reads, and `visible` the
    offsets there that a read_committed client sees. `quarantined` are all rows, live or not, and
    `deleted` the rows that others removed from the data table, by the version that did so.
    `dropped` records no longer count, unless a batch has read them again since.
    """

    partition: TopicPartition
    reads: Sequence[CommittedRange]
    quarantined: Rows
    dropped: Sequence[DroppedRecords] = ()
    openings: Mapping[int, int] = field(default_factory=dict)
    lost: Sequence[OffsetRange] = ()
    given_up: Sequence[OffsetRange] = ()
    readable: Sequence[OffsetRange] = ()
    visible: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    data: Rows = NO_ROWS
    deleted: Mapping[int, Rows] = field(default_factory=dict)
    compacts: bool = False

    @property
    def batches(self) -> Sequence[str]:
        """The batches of the reads, in the same order."""
        return [read.batch for read in self.reads]

    @cached_property
    def live(self) -> Rows:
        """The quarantine rows of committed batches whose offset no later batch has read again."""
        committed = self.quarantined.reads >= 0
        return self.quarantined.only(committed & ~self.superseded & ~self.forgotten)

    @cached_property
    def superseded(self) -> Mask:
        """Which quarantine rows a later batch has read again.

        A later batch over the same range did not read records that Kafka no longer held.
        """
        rows = self.quarantined
        read_again = np.isin(rows.offsets, self.visible)
        read_again |= self.newest_row(rows.offsets) > rows.reads
        return (rows.reads >= 0) & (self.newest_read(rows.offsets) > rows.reads) & read_again

    @cached_property
    def forgotten(self) -> Mask:
        """Which quarantine rows the operator has dropped."""
        rows, found = self.quarantined, np.zeros(len(self.quarantined.offsets), dtype=bool)
        for place in np.unique(self.dropped_rows.reads):
            dropped = self.dropped_rows.offsets[self.dropped_rows.reads == place]
            found |= (rows.reads == place) & np.isin(rows.offsets, dropped)
        return found

    @cached_property
    def dropped_rows(self) -> Rows:
        """The quarantine rows recorded as dropped, whether or not they are still in the table."""
        places = {read.batch: place for place, read in enumerate(self.reads)}
        return _once(
            Rows(offsets, np.full(len(offsets), places[each.batch], dtype=np.int64))
            for each in self.dropped
            if each.batch in places
            for offsets in [np.arange(each.offsets.start, each.offsets.end, dtype=np.int64)]
        )

    @cached_property
    def ever_quarantined(self) -> Rows:
        """The rows in the quarantine table and those dropped from it, each once."""
        return _once([self.quarantined, self.dropped_rows])

    @cached_property
    def stored(self) -> Rows:
        """The rows of both tables that count."""
        return self.data.and_(self.live)

    @cached_property
    def excused(self) -> Offsets:
        """The offsets whose rows were deleted or dropped and that no batch has read since."""
        versions = np.array([read.version for read in self.reads] + [-1], dtype=np.int64)
        found = [
            rows.offsets[versions[self.newest_read(rows.offsets)] < version]
            for version, rows in self.deleted.items()
        ]
        dropped = self.dropped_rows
        latest = self.newest_read(dropped.offsets) == dropped.reads
        return np.unique(np.concatenate([*found, dropped.offsets[latest]]))

    @cached_property
    def gone(self) -> Rows:
        """The rows that others deleted and no batch has written again, each once."""
        rows = _once(self.deleted.values())
        return rows.only(~np.isin(rows.offsets, self.data.offsets))

    def newest_read(self, offsets: Offsets) -> Offsets:
        """For each offset the index of the last read that covers it, -1 where none does."""
        return _latest(offsets, ((read.offsets, place) for place, read in enumerate(self.reads)))

    def read_again(self, place: int) -> bool:
        """Whether a later batch has read part of this read's range again."""
        mine = self.reads[place].offsets
        return any(
            max(each.offsets.start, mine.start) < min(each.offsets.end, mine.end)
            for each in self.reads[place + 1 :]
        )

    def newest_row(self, offsets: Offsets) -> Offsets:
        """For each offset the index of the last read that has, or had, a row of it; else -1."""
        rows = self.data.and_(self.ever_quarantined).and_(self.gone)
        wanted = np.unique(offsets)
        mine = rows.only(np.isin(rows.offsets, wanted))
        newest = np.full(len(wanted), -1, dtype=np.int64)
        np.maximum.at(newest, np.searchsorted(wanted, mine.offsets), mine.reads)
        return newest[np.searchsorted(wanted, offsets)]


def _latest(offsets: Offsets, ranges: Iterable[tuple[OffsetRange, int]]) -> Offsets:
    """For each offset the number of the last range that contains it, -1 where none does."""
    order = np.argsort(offsets, kind="stable")
    ascending, found = offsets[order], np.full(len(offsets), -1, dtype=np.int64)
    for each, number in ranges:
        low, high = np.searchsorted(ascending, (each.start, each.end))
        found[order[low:high]] = number
    return found


def _once(several: Iterable[Rows]) -> Rows:
    """All the rows, without duplicates."""
    everything = NO_ROWS
    for rows in several:
        everything = everything.and_(rows)
    pairs = np.stack([everything.offsets, everything.reads], axis=1)
    once = np.unique(pairs, axis=0).reshape(-1, 2)
    return Rows(once[:, 0], once[:, 1])
