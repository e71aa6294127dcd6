"""Lost offsets: those of recorded losses that neither table holds by now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sluice.offsets.log_verdicts import missing_ranges
from sluice.offsets.losses import Loss
from sluice.offsets.quarantined import RecordState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, within
from sluice.offsets.row_offsets import NO_ROWS, Offsets
from sluice.progress.committed import committed_ranges, losses_that_count
from sluice.progress.committed_ranges import CommittedRanges
from sluice.progress.filtered_records import filtered_by, logged_filters
from sluice.progress.lane_state import LaneState
from sluice.progress.quarantined_records import read_quarantined
from sluice.progress.resources import PipelineResources


def still_lost(resources: PipelineResources, lane: LaneState) -> list[Loss]:
    """The recorded losses without what a batch has read since, or whose rows have stayed. What it
    left out it has read.

    Rows are asked for only where some batch has read the offsets: nothing else can be there.
    """
    losses = losses_that_count(lane)
    if not losses:
        return []
    told: dict[TopicIdPartition, list[OffsetRange]] = {}
    for each in losses:
        told.setdefault(each.place, []).append(each.offsets)
    reads = committed_ranges(lane, OffsetScope.of_ranges(told))
    asked = {
        place: within(found, (each.offsets for each in reads.at(place)))
        for place, found in told.items()
    }
    scope = OffsetScope.of_ranges({place: found for place, found in asked.items() if found})
    there = _held(resources, lane, scope, reads) if scope.places else {}
    return [
        replace(loss, offsets=part)
        for loss in losses
        for part in _lacking(loss.offsets, there.get(loss.place, NO_ROWS.offsets))
    ]


def _held(
    resources: PipelineResources, lane: LaneState, scope: OffsetScope, reads: CommittedRanges
) -> dict[TopicIdPartition, Offsets]:
    """The offsets there that have a row, or a live one in quarantine, or were left out."""
    rows, filters = lane.data.coordinates_in(scope), logged_filters(lane)
    found = {
        place: np.append(rows.offsets(place), filtered_by(filters, reads.at(place)).offsets)
        for place in scope.places
    }
    for each in read_quarantined(resources, lane, scope).of(RecordState.LIVE):
        found[each.place] = np.append(found[each.place], each.offset)
    return {place: np.unique(offsets) for place, offsets in found.items()}


def _lacking(offsets: OffsetRange, there: Offsets) -> Iterable[OffsetRange]:
    inside = there[(there >= offsets.start) & (there < offsets.end)]
    for start, end in missing_ranges((offsets.start, offsets.end), inside):
        yield OffsetRange(offsets.partition, start, end)
