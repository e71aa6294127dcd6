"""Untold deletions: offsets of which rows may have been deleted, and nothing tells any more.

The data table's log has lost those commits, as in a copy of the table; or the files are gone that
they removed. What speaks against it: all rows that receipts count are there, or known deletions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sluice.offsets.offset_runs import OffsetRuns
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, merged, within, without
from sluice.progress.committed import committed_ranges, losses_that_count
from sluice.progress.committed_ranges import CommittedRange
from sluice.progress.deletions import erased_among
from sluice.progress.erased import RangeToReread
from sluice.progress.evidence import Evidence
from sluice.progress.filtered_records import logged_filters, with_filtered
from sluice.progress.lane_state import LaneState
from sluice.progress.reads import evidence_of, with_data
from sluice.tables.coordinates import StoredCoordinates
from sluice.tables.foreign_commits import TableCommit

_NO_QUARANTINE = StoredCoordinates((), {})


def may_come_back(lane: LaneState, again: Sequence[RangeToReread]) -> Iterator[str]:
    """What would come back, or may, if these offsets are read again; one line for each."""
    if not any(each.offsets.span for each in again):
        return
    erased = erased_among(lane, again)
    yield from replace(erased, unknown=()).lines
    for each in _untold(lane, again, erased.unknown):
        yield f"{each}: may have been rows that others deleted: {_why(lane, erased.unknown)}"


def _why(lane: LaneState, unreadable: Sequence[TableCommit]) -> str:
    if unreadable:
        named = ", ".join(f"version {each.version} a {each.operation}" for each in unreadable)
        return f"files that others removed from the data table are gone ({named})"
    first = lane.data.log.last_lost + 1
    return f"the data table's log, which begins at version {first}, does not tell"


def _untold(
    lane: LaneState, again: Sequence[RangeToReread], unreadable: Sequence[TableCommit]
) -> list[OffsetRange]:
    """Those of the offsets that may have been rows since they were read."""
    asked: dict[TopicIdPartition, list[OffsetRange]] = {}
    for each in again:
        asked.setdefault(each.place, []).append(each.offsets)
    committed = committed_ranges(lane, OffsetScope.of_ranges(asked))
    told = GoneVersions(
        lane.data.log.last_lost, max((each.version for each in unreadable), default=-1)
    )
    losses, filters = losses_that_count(lane), logged_filters(lane)
    found: list[OffsetRange] = []
    for place, ranges in asked.items():
        evidence = evidence_of(committed, losses, place, _NO_QUARANTINE)
        if not all(map(told.since, evidence.reads)):
            read = merged(each.offsets for each in evidence.reads)
            known = with_filtered(filters, with_data(lane, place, evidence, read))
            found += untold_in(known, ranges, told)
    return merged(found)


@dataclass(frozen=True)
class GoneVersions:
    """The newest version that the data table's log has lost, and the newest that it lacks files of.

    Each -1 where there is none.
    """

    lost: int
    unreadable: int

    def since(self, read: CommittedRange) -> bool:
        """Whether it shows all deletions since a range was read."""
        return read.here and read.version >= max(self.lost, self.unreadable)


def untold_in(
    evidence: Evidence, ranges: Iterable[OffsetRange], told: GoneVersions
) -> Iterator[OffsetRange]:
    """Those of the offsets that may have been rows since a read that counts more than is known.

    The newest read that met a record at each offset says what became of it. Pure.
    """
    left = merged(ranges)
    for place, read in reversed(list(enumerate(evidence.reads))):
        mine = within(left, [read.offsets])
        if mine and not told.since(read) and _lacks_rows(evidence, place):
            left_out = OffsetRuns.of(evidence.filtered_by(place)).ranges(evidence.partition)
            yield from without(mine, left_out)
        if read.receipts and all(line.gaps == line.never for line in read.receipts):
            left = without(left, mine)


def _lacks_rows(evidence: Evidence, place: int) -> bool:
    """Whether a read counts records that have no row, and that no known deletion explains."""
    rows = [each.offsets[each.reads == place] for each in (evidence.data, evidence.gone)]
    receipts = evidence.reads[place].receipts
    counted = sum(line.records for line in receipts)
    return not receipts or counted > len(np.unique(np.concatenate(rows)))
