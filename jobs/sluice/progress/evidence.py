"""Evidence: the facts about one partition of one topic id, and what follows from them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sluice.offsets.ranges import OffsetRange, TopicPartition, span_of, within
from sluice.offsets.row_offsets import (
    NO_ROWS,
    Mask,
    Offsets,
    Rows,
    latest,
    newest,
    offsets_of,
    once,
    read_of,
)
from sluice.progress.committed_ranges import CommittedRange


@dataclass(frozen=True)
class RecordsOfBatch:
    """Some records of a batch: quarantined ones that were dropped, or rows that are gone."""

    batch: str
    offsets: OffsetRange


@dataclass(frozen=True)
class Evidence:
    """The facts about one partition.

    `reads` are in the order they landed; `openings` say where a generation starts, None if that is
    no longer known; `lost` are recorded losses. `given_up` are losses that a person decided on
    although Kafka or the table may hold the records; `accepted` are these, and those of a topic
    that was gone, whose content is unknown. `readable` is the part of the reads that Kafka still
    holds, and `visible` the offsets there that a read_committed client sees; `never` are offsets of
    rows where the log has a marker or an aborted record. `quarantined` are all rows, live or not,
    and `deleted` the rows that others removed from the data table, by the version that did so.
    `dropped` records do not count, unless a batch has read them again since; rows `left_behind` in
    another table do not count either, because a recovery went on with a copy that lacks them.
    `filtered` are the offsets whose records the spec's `only` left out, by the commits of the
    reads; of one whose commit is lost, its receipt tells how many.
    """

    partition: TopicPartition
    reads: Sequence[CommittedRange]
    quarantined: Rows
    dropped: Sequence[RecordsOfBatch] = ()
    left_behind: Sequence[RecordsOfBatch] = ()
    openings: Mapping[int, int | None] = field(default_factory=dict)
    lost: Sequence[OffsetRange] = ()
    given_up: Sequence[OffsetRange] = ()
    accepted: Sequence[OffsetRange] = ()
    readable: Sequence[OffsetRange] = ()
    visible: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    never: Offsets = field(default_factory=lambda: NO_ROWS.offsets)
    data: Rows = NO_ROWS
    deleted: Mapping[int, Rows] = field(default_factory=dict)
    compacts: bool = False
    filtered: Rows = NO_ROWS

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

        A batch over the same range did not read records that Kafka no longer held. Kafka, a row, or
        a receipt without gaps shows that it did; a marker in the log shows that there is no record.
        """
        rows = self.quarantined
        read_again = np.isin(rows.offsets, self.visible) | np.isin(rows.offsets, self.never)
        read_again |= self.newest_row(rows.offsets) > rows.reads
        read_again |= self.newest_whole_read(rows.offsets) > rows.reads
        return (rows.reads >= 0) & (self.newest_read(rows.offsets) > rows.reads) & read_again

    @cached_property
    def erased(self) -> Mask:
        """Which superseded quarantine rows are of records that others deleted from the table."""
        return self.superseded & np.isin(self.quarantined.offsets, self.gone.offsets)

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
        return self._rows_of(self.dropped)

    @cached_property
    def rows_left_behind(self) -> Rows:
        """The rows that a recovery found in another table's receipts only."""
        return self._rows_of(self.left_behind)

    def _rows_of(self, records: Iterable[RecordsOfBatch]) -> Rows:
        places = {read.batch: place for place, read in enumerate(self.reads)}
        return once(
            Rows(offsets, np.full(len(offsets), places[each.batch], dtype=np.int64))
            for each in records
            if each.batch in places
            for offsets in [offsets_of([each.offsets])]
        )

    @cached_property
    def ever_quarantined(self) -> Rows:
        """The rows in the quarantine table and those dropped from it, each once."""
        return once([self.quarantined, self.dropped_rows])

    @cached_property
    def stored(self) -> Rows:
        """The rows of both tables that count."""
        return self.data.and_(self.live)

    @cached_property
    def unseen(self) -> Offsets:
        """The offsets with a row, among those that Kafka still holds, of which it shows no record.

        A topic that compacts may have removed the records after they were read.
        """
        return NO_ROWS.offsets if self.compacts else self._not_shown

    @property
    def compacted_away(self) -> Offsets:
        """The same of a topic that compacts."""
        return self._not_shown if self.compacts else NO_ROWS.offsets

    @cached_property
    def _not_shown(self) -> Offsets:
        stored = np.unique(self.stored.offsets)
        held = stored[latest(stored, ((each, 0) for each in self.readable)) >= 0]
        return np.setdiff1d(held, self.visible)

    @cached_property
    def excused(self) -> Offsets:
        """The offsets whose rows were deleted, dropped or left out, and not read since."""
        landed = [read.version if read.here else -1 for read in self.reads]
        versions = np.array([*landed, -1], dtype=np.int64)
        found = [
            rows.offsets[versions[self.newest_read(rows.offsets)] < version]
            for version, rows in self.deleted.items()
        ]
        told = self.dropped_rows.and_(self.rows_left_behind).and_(self.filtered)
        latest = self.newest_read(told.offsets) == told.reads
        return np.unique(np.concatenate([*found, told.offsets[latest]]))

    @cached_property
    def gone(self) -> Rows:
        """The rows that others deleted and no batch has written again, each once."""
        rows = once([*self.deleted.values(), self.rows_left_behind])
        return rows.only(~np.isin(rows.offsets, self.data.offsets))

    @property
    def left_out(self) -> int:
        """How many records count as left out: no batch has read them since."""
        newest = self.newest_read(self.filtered.offsets)
        return int(np.count_nonzero(newest == self.filtered.reads))

    def left_out_by(self, place: int) -> int | None:
        """How many records a read left out, by its commit; None where that does not tell it."""
        told = len(self.filtered_by(place))
        return None if self.reads[place].filtered and not told else told

    def newest_read(self, offsets: Offsets) -> Offsets:
        """For each offset the index of the last read that covers it, -1 where none does."""
        return latest(offsets, ((read.offsets, place) for place, read in enumerate(self.reads)))

    def newest_whole_read(self, offsets: Offsets) -> Offsets:
        """The same, of those reads of which each offset became a row."""
        whole = (
            (read.offsets, place)
            for place, read in enumerate(self.reads)
            if [line.offsets for line in read.receipts if not line.gaps] == [read.offsets]
        )
        return latest(offsets, whole)

    def replaced(self, place: int) -> int:
        """How many rows of this read later ones have replaced, at most.

        With rows, with markers, or with nothing where a person has decided so.
        """
        mine, newest = self.reads[place].offsets, self._newest_rows
        low, high = np.searchsorted(newest.offsets, (mine.start, mine.end))
        later = newest.offsets[low:high][newest.reads[low:high] > place]
        # What it still has a row of replaces none.
        own = np.union1d(self.own_gaps(place), self.rows_ever_of(place))
        return len(np.setdiff1d(later, own)) + self.more_markers(place) + self.decided(place)

    def decided(self, place: int) -> int:
        """How many offsets of this read later ones left without a row, as a person decided.

        None of its own gaps, and of each later read no more than it has gaps.
        """
        mine, later = self.reads[place], self.reads[place + 1 :]
        accepted = offsets_of(within(self.accepted, [mine.offsets]))
        left = np.setdiff1d(accepted, np.union1d(self._newest_rows.offsets, self.own_gaps(place)))
        found = 0
        for each in later:
            gaps = sum(line.gaps - line.never for line in each.receipts)
            common = (left >= each.offsets.start) & (left < each.offsets.end)
            found += min(gaps, int(np.count_nonzero(common)))
        return min(found, len(left))

    def own_gaps(self, place: int) -> Offsets:
        """The offsets of which this read itself had no row: no row replaces one.

        By its losses; and what it left out.
        """
        gaps: Offsets = self.filtered_by(place)
        mine = self.reads[place].offsets
        if any(line.gaps > line.never for line in self.reads[place].receipts):
            gaps = np.union1d(gaps, offsets_of(within(self.lost, [mine])))
        return np.setdiff1d(gaps, self.rows_ever_of(place))

    def filtered_by(self, place: int) -> Offsets:
        """The offsets whose records this read left out, as far as its commit tells."""
        return self.filtered.only(self.filtered.reads == place).offsets

    def rows_ever_of(self, place: int) -> Offsets:
        """The offsets of which this read has, or had, a row, in whichever table."""
        return np.unique(self._ever_stored.only(self._ever_stored.reads == place).offsets)

    @cached_property
    def _ever_stored(self) -> Rows:
        """The rows that are, or were, in either table."""
        return self.data.and_(self.ever_quarantined).and_(self.gone)

    def more_markers(self, place: int) -> int:
        """How many markers later reads met where this one met none: another copy of the log.

        No more than they have in common offsets without a row since.
        """
        mine, later = self.reads[place], self.reads[place + 1 :]
        since = self._newest_rows.only(self._newest_rows.reads >= place).offsets
        never = 0
        for each in later:
            common = within([each.offsets], [mine.offsets])
            rows = sum(int(np.diff(np.searchsorted(since, (e.start, e.end)))[0]) for e in common)
            met = sum(line.never for line in each.receipts)
            never += min(met, span_of(common) - rows)
        return max(0, never - sum(line.gaps for line in mine.receipts))

    @cached_property
    def _newest_rows(self) -> Rows:
        """Each offset that has, or had, a row, ascending, with the last read that it is of.

        A read that left its record out has decided about it as well.
        """
        return newest(self._ever_stored.and_(self.filtered))

    def newest_row(self, offsets: Offsets) -> Offsets:
        """For each offset the index of the last read that has, or had, a row of it; else -1."""
        return read_of(self._newest_rows, offsets)

    @cached_property
    def rows_left_out(self) -> Mask:
        """Which rows that count are of records that their own read, or a later one, left out."""
        rows = self.stored
        return (rows.reads >= 0) & (read_of(newest(self.filtered), rows.offsets) >= rows.reads)
