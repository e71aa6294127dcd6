"""Filtered records: those that a pipeline's batches left out, by the commits that the log holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sluice.offsets.filtered import NOTHING_FILTERED, FilteredOffsets
from sluice.offsets.offset_runs import OffsetRuns
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, within
from sluice.offsets.row_offsets import NO_ROWS, Offsets, Rows
from sluice.progress.committed import committed_ranges
from sluice.progress.committed_ranges import CommittedRange
from sluice.progress.evidence import Evidence
from sluice.progress.lane_state import LaneState


def logged_filters(lane: LaneState) -> Mapping[str, FilteredOffsets]:
    """What each batch left out, by its commit; the newest commit of a name counts."""
    logged = reversed(lane.data.log.batches_in_effect())
    return {each.name: each.filtered for each in logged if each.filtered}


def filtered_by(filters: Mapping[str, FilteredOffsets], reads: Sequence[CommittedRange]) -> Rows:
    """The offsets of a partition that its reads left out, each with the index of its read."""
    found = NO_ROWS
    for place, read in enumerate(reads):
        if read.batch in filters:
            offsets = left_out_of(filters, read.batch, read.offsets)
            found = found.and_(Rows(offsets, np.full(len(offsets), place, dtype=np.int64)))
    return found


def with_filtered(filters: Mapping[str, FilteredOffsets], evidence: Evidence) -> Evidence:
    """With what the partition's reads left out."""
    return replace(evidence, filtered=filtered_by(filters, evidence.reads))


def left_out_of(
    filters: Mapping[str, FilteredOffsets], batch: str, offsets: OffsetRange
) -> Offsets:
    """Those of a batch's range that it left out; none where no commit tells it."""
    try:
        return filters.get(batch, NOTHING_FILTERED).within(offsets)
    except ValueError:
        # Others have written it: it says nothing.
        return NO_ROWS.offsets


def without_record_of_ours(
    lane: LaneState, place: TopicIdPartition, asked: Sequence[OffsetRange]
) -> Iterator[OffsetRange]:
    """The offsets of a partition that batches left out; all, where that is no longer known."""
    scope = OffsetScope.of_ranges({place: asked})
    committed = committed_ranges(lane, scope)
    if not (committed.counted.filtered > 0).any():
        return
    reads = committed.at(place)
    found = filtered_by(logged_filters(lane), reads)
    for index, read in enumerate(reads):
        mine = found.offsets[found.reads == index]
        if len(mine) < read.filtered:
            yield from within(asked, [read.offsets])
        else:
            yield from within(OffsetRuns.of(mine).ranges(read.offsets.partition), asked)
