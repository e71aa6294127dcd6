"""Lacking rows: quarantined records that receipts count, but that are in no table any more.

Not lacking are rows that were dropped, and those whose offset a later batch has read again or is
going to: maintenance removes such rows. Does not ask Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sluice.offsets.batches import BatchSequence, PlannedRange
from sluice.offsets.loss_causes import BY_PERSON, LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.offset_runs import OffsetRuns
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import (
    OffsetRange,
    TopicIdPartition,
    TopicPartition,
    first_of,
    within,
    without,
)
from sluice.offsets.resets import LANES, both_lanes
from sluice.offsets.row_offsets import Mask, Offsets, offsets_of
from sluice.progress.committed import committed_ranges, losses_that_count
from sluice.progress.committed_ranges import CommittedRanges
from sluice.progress.erased import RangeToReread
from sluice.progress.evidence import Evidence
from sluice.progress.filtered_records import logged_filters, with_filtered
from sluice.progress.lane_state import LaneState
from sluice.progress.others_deletions import removed_by_others
from sluice.progress.reads import evidence_of, with_data
from sluice.progress.set_aside import places_set_aside, uncommitted_attempts
from sluice.tables.quarantine_table import Attempts

_NO_END = 2**62
# What a person does not want, and Kafka may hold.
_HELD = {LossKind.SKIPPED, *BY_PERSON}


@dataclass(frozen=True)
class LackingRows:
    """A batch lacks so many rows; they were among these offsets of a topic id's partition."""

    batch: str
    topic_id: str
    rows: int
    among: tuple[OffsetRange, ...]

    @property
    def partition(self) -> TopicPartition:
        """The partition that all these offsets are of."""
        return self.among[0].partition

    @property
    def place(self) -> TopicIdPartition:
        """The same partition, as rows name it."""
        return self.partition.of(self.topic_id)

    def losses(self, cause: LossCause, gone: Iterable[OffsetRange]) -> Iterator[Loss]:
        """A loss for each row, of more offsets the first ones that are gone."""
        for each in first_of(gone, self.rows):
            yield Loss(each, self.topic_id, cause, self.batch)

    def __str__(self) -> str:
        ranges = ", ".join(map(str, self.among))
        return f"{self.rows} of {self.batch}, in {ranges}"


def lacking_rows(lane: LaneState) -> list[LackingRows]:
    """The quarantined records that receipts count and that are not there."""
    return lacking_but_for(lane, list(to_be_read(lane)))


def lacking_but_for(
    lane: LaneState, planned: Sequence[PlannedRange], uncommitted: Attempts | None = None
) -> list[LackingRows]:
    """The same, except the records that will be read again as these ranges.

    What an `uncommitted` attempt has brought back stands for nothing; they are looked for unless
    they are known.
    """
    committed, losses = committed_ranges(lane, None), losses_that_count(lane)
    asked = _counted(committed)
    if not asked:
        return []
    more = uncommitted_attempts(lane) if uncommitted is None else uncommitted
    stored = places_set_aside(lane, lane.quarantine, OffsetScope.of_ranges(asked), more)
    filters = logged_filters(lane)
    found: list[LackingRows] = []
    for place in sorted(asked):
        evidence = evidence_of(committed, losses, place, stored)
        again = [each.offsets for each in planned if each.place == place]
        if not may_lack(evidence):
            continue
        evidence = with_filtered(filters, with_data(lane, place, evidence, asked[place]))
        for batch, rows, among in lacking_in(evidence, again):
            left = _without_data(lane, place, evidence.partition, among)
            found.append(
                LackingRows(
                    batch, place.topic_id, min(rows, len(left)), _ranges(left, evidence.partition)
                )
            )
    return [each for each in found if each.rows]


def lost_with(lane: LaneState, losses: Sequence[Loss], decider: str) -> list[Loss]:
    """The lacking rows that are lost with offsets that were to be read again: a loss for each.

    A quarantine table lacks none of what is read again, until that is gone. Who decided about those
    offsets decided about these as well: a person, else the `decider`.
    """
    gone: dict[TopicIdPartition, list[Loss]] = {}
    for loss in losses:
        if loss.cause.kind not in _HELD:
            gone.setdefault(loss.place, []).append(loss)
    if not gone:
        return []
    planned = [
        replace(each, offsets=part)
        for each in to_be_read(lane)
        for part in without([each.offsets], [loss.offsets for loss in gone.get(each.place, [])])
    ]
    lacking = lacking_but_for(lane, planned)
    return [
        lost for each in lacking for lost in _lost_among(each, gone.get(each.place, []), decider)
    ]


def _lost_among(lacking: LackingRows, gone: Iterable[Loss], decider: str) -> Iterator[Loss]:
    left = lacking
    for loss in gone:
        cause = LossCause(LossKind.ASIDE_GONE, loss.cause.actor or decider, loss.cause.reason)
        for lost in left.losses(cause, within([loss.offsets], lacking.among)):
            left = replace(left, rows=left.rows - lost.offsets.span)
            yield lost


def may_lack(evidence: Evidence) -> bool:
    """Whether a batch counts more quarantined records than it has or had rows. Pure."""
    return any(_aside_short(evidence, place) > 0 for place in range(len(evidence.reads)))


def _aside_short(evidence: Evidence, place: int) -> int:
    """How many quarantined records a read counts beyond those that it has, or had, rows of."""
    stated = sum(line.quarantined for line in evidence.reads[place].receipts)
    return stated - int(np.count_nonzero(evidence.ever_quarantined.reads == place))


def lacking_in(
    evidence: Evidence, again: Sequence[OffsetRange] = ()
) -> Iterator[tuple[str, int, Offsets]]:
    """Each batch that lacks rows, how many, and the offsets that they were among. Pure.

    Rows of records count as well: without theirs, an offset that a later batch has read again may
    stand for one of them. A later batch excuses only what it has read: where it has, or had, a row,
    or no gaps at all; and as many markers as it has met more. What was gone by then it has not met.
    """
    for place, read in enumerate(evidence.reads):
        lacking = _aside_short(evidence, place)
        if lacking <= 0:
            continue
        mine = evidence.rows_ever_of(place)
        left = np.setdiff1d(offsets_of([read.offsets]), mine)
        left = np.setdiff1d(left, evidence.own_gaps(place))
        covered = _covered(left, again) | (evidence.newest_row(left) > place)
        covered |= evidence.newest_whole_read(left) > place
        stated = sum(line.records + line.quarantined for line in read.receipts)
        excused = int(covered.sum()) + evidence.more_markers(place)
        lacking = min(lacking, stated - len(mine) - excused)
        if lacking > 0:
            yield read.batch, lacking, left[~covered]


def to_be_read(lane: LaneState) -> Iterator[PlannedRange]:
    """What is planned and not committed yet, in both lanes, and all above the forward cursor."""
    return planned_after(lane, lane.committed_of)


def planned_after(
    lane: LaneState, reached: Callable[[BatchSequence], int]
) -> Iterator[PlannedRange]:
    """What is planned behind the batches reached, in both lanes, and all above the cursor."""
    for sequence in both_lanes(lane.sequence):
        last = lane.snapshot.planned(sequence)
        for batch in lane.snapshot.batches(sequence, reached(sequence) + 1, last=last):
            yield from batch.ranges
    forward = replace(lane.sequence, lane=LANES[0])
    history = lane.snapshot.history(forward, lane.resets)
    for each in history.cursor_at(lane.committed_of(forward)).values():
        yield replace(each, offsets=replace(each.offsets, start=each.offsets.end, end=_NO_END))


def _covered(offsets: Offsets, ranges: Sequence[OffsetRange]) -> Mask:
    found = np.zeros(len(offsets), dtype=bool)
    for each in ranges:
        found |= (offsets >= each.start) & (offsets < each.end)
    return found


def _counted(committed: CommittedRanges) -> Mapping[TopicIdPartition, list[OffsetRange]]:
    """The ranges of receipts that count quarantined records."""
    found: dict[TopicIdPartition, list[OffsetRange]] = {}
    counted = committed.counted.only(committed.counted.quarantined > 0)
    for index in range(len(counted)):
        place, _ = counted.places[counted.place[index]]
        found.setdefault(place, []).append(counted.range(index))
    return found


def _without_data(
    lane: LaneState, place: TopicIdPartition, partition: TopicPartition, offsets: Offsets
) -> Offsets:
    """Those without a row in the data table, if no such row was deleted."""
    rows = lane.data.coordinates_in(OffsetScope.of_offsets({place: offsets}))
    left = np.setdiff1d(offsets, rows.offsets(place))
    asked = [RangeToReread(each, place.topic_id) for each in _ranges(left, partition)]
    for removed in removed_by_others(lane, asked).values():
        left = np.setdiff1d(left, removed.offsets(place))
    return left


def _ranges(offsets: Offsets, partition: TopicPartition) -> tuple[OffsetRange, ...]:
    return tuple(OffsetRuns.of(offsets).ranges(partition))
