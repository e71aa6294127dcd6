"""Rows left behind: receipts of another table count them, and the copy in its place lacks them.

The copy is taken to be right: the person who made it, or deleted them before, has decided so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sluice.offsets.batches import BatchSequence
from sluice.offsets.log_verdicts import missing_ranges
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import (
    OffsetRange,
    TopicIdPartition,
    first_of,
    span_of,
    within,
    without,
)
from sluice.offsets.receipts import PartitionCount, Receipt, Span
from sluice.offsets.row_offsets import NO_ROWS, Offsets
from sluice.operations.recover.found_history import FoundHistory
from sluice.operations.recover.holes import Hole
from sluice.progress.erased import RangeToReread
from sluice.progress.filtered_records import left_out_of, logged_filters
from sluice.progress.lane_state import LaneState
from sluice.progress.others_deletions import removed_by_others
from sluice.progress.resources import PipelineResources
from sluice.protocol.settle.counting import ExplainGaps
from sluice.protocol.settle.explanations import explanations, quarantined_by


def rows_left_behind(
    resources: PipelineResources, found: FoundHistory, state: LaneState, actor: str, reason: str
) -> Iterator[Hole]:
    """The offsets that the batches that count had rows of, and that no row in the table has.

    Not those that a batch left out, as far as a commit still tells which these are.
    """
    filters = logged_filters(state)
    cause = LossCause(LossKind.LEFT_BEHIND, actor, reason)
    for sequence, last in found.ends.items():
        for receipt in _short(found, sequence, last):
            batch = receipt.batch
            explain = explanations(resources, state, batch)
            quarantined_in = quarantined_by(resources, state, batch)
            for line in receipt.counted:
                planned = line.planned
                place = planned.place
                span = planned.offsets.start, planned.offsets.end
                scope = OffsetScope.of_ranges({place: [planned.offsets]})
                there = state.data.coordinates_in(scope).offsets(place)
                apart = quarantined_in(planned) if quarantined_in else NO_ROWS.offsets
                lacking = _lacking(line, there, apart)
                if not lacking:
                    continue
                left_out = left_out_of(filters, str(batch), planned.offsets)
                missing = missing_ranges(span, np.union1d(np.union1d(there, apart), left_out))
                among = _rows_among(line, missing, explain)
                rows = [replace(planned.offsets, start=start, end=end) for start, end in among]
                by_count = line.filtered > len(left_out) and span_of(rows) > lacking
                for offsets in first_of(_deleted_first(state, place, rows), lacking):
                    loss = Loss(offsets, planned.topic_id, cause, str(batch))
                    yield Hole(sequence, batch.cluster_id, loss, by_count)


def _short(found: FoundHistory, sequence: BatchSequence, last: int) -> Iterator[Receipt]:
    """The receipts of another table that count more rows than their batch has here."""
    snapshot = found.state.snapshot
    counted = snapshot.columns.ranges("committed", {sequence: (1, last)} if last else {})
    for (_, number), _ in counted.batches():
        for each in snapshot.receipts_of(sequence, number, number):
            elsewhere = each.batch.data_table_id != found.state.data.table_id
            if elsewhere and each.records > found.rows.counts.get(str(each.batch), 0):
                yield each


def _deleted_first(
    state: LaneState, place: TopicIdPartition, ranges: list[OffsetRange]
) -> list[OffsetRange]:
    """The same offsets, but first those whose row was deleted from the copy."""
    asked = [RangeToReread(each, place.topic_id) for each in ranges]
    known = [
        replace(ranges[0], start=int(offset), end=int(offset) + 1)
        for removed in removed_by_others(state, asked).values()
        for offset in removed.offsets(place)
    ]
    deleted = within(known, ranges)
    return [*deleted, *without(ranges, deleted)]


def _lacking(line: PartitionCount, there: Offsets, apart: Offsets) -> int:
    """How many rows are gone at most: if Kafka does not show which, the first ones are named.

    What the batch had lost, a later one may have had a row of. What is gone from the quarantine,
    `sluice quarantine recover` tells.
    """
    if line.gaps.lost:
        return line.planned.offsets.span
    rows = line.records - len(np.setdiff1d(there, apart))
    either = line.records + line.quarantined - len(np.union1d(there, apart))
    return max(0, min(rows, either))


def _rows_among(line: PartitionCount, missing: list[Span], explain: ExplainGaps) -> list[Span]:
    """Those of the missing offsets that had a row, as far as Kafka still tells."""
    if not missing or not line.records:
        return []
    if not line.gaps.total:
        return missing
    return [(each.start, each.end) for each in explain(line.planned, missing).unexplained]
