"""Undecodable records: how many of a batch are in quarantine now, whatever its receipt says.

Records that were dropped, replayed or read again no longer count.
"""

from __future__ import annotations

from dataclasses import dataclass

from sluice.errors import TooManyQuarantined
from sluice.moves import Move
from sluice.offsets.batches import Batch
from sluice.offsets.quarantined import RecordState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, span_of
from sluice.progress.lane_state import LaneState
from sluice.progress.quarantined_records import read_quarantined
from sluice.progress.resources import PipelineResources


@dataclass(frozen=True)
class QuarantinedShare:
    """The share of a batch's records that is in quarantine, from 0 to 1."""

    batch: str
    share: float


def last_share(resources: PipelineResources, lane: LaneState) -> QuarantinedShare | None:
    """That of the last batch of the forward lane that has a receipt; None before the first.

    The table is read only where the receipt exceeds the spec's limit.
    """
    forward = (each for each in lane.receipts if each.batch.sequence == lane.sequence)
    if (receipt := next(forward, None)) is None:
        return None
    seen, left = receipt.records + receipt.quarantined, receipt.quarantined
    limit = resources.spec.alerts.max_quarantine
    if limit is not None and left > limit * seen:
        left = _in_quarantine(resources, lane, receipt.batch, RecordState.LIVE)
    return QuarantinedShare(str(receipt.batch), left / seen if seen else 0.0)


def require_decodable(resources: PipelineResources, lane: LaneState) -> None:
    """Raises TooManyQuarantined where the last attempt at a planned batch ended with that."""
    allowed = resources.spec.quarantine.max_ratio
    for batch in lane.unfinished[:1]:
        # What a replacement is allowed depends on what it replaces.
        span = span_of(each.offsets for each in batch.ranges)
        if batch.mode != "append" or not span:
            continue
        count = _in_quarantine(resources, lane, batch, RecordState.WAITING)
        if count > allowed * span:
            raise TooManyQuarantined(
                f"{batch}: {count:,} of at most {span:,} records are undecodable; allowed:"
                f" {allowed:.2%}. Nothing of it is committed. ",
                Move("quarantine list", (resources.spec.pipeline,)),
                " shows all reasons. Correct the schema in the spec, or raise"
                " quarantine.max_ratio; the next run tries again.",
            )


def _in_quarantine(
    resources: PipelineResources, lane: LaneState, batch: Batch, state: RecordState
) -> int:
    """How many of the batch's rows are in this state."""
    asked: dict[TopicIdPartition, list[OffsetRange]] = {}
    for each in batch.ranges:
        asked.setdefault(each.place, []).append(each.offsets)
    found = read_quarantined(resources, lane, OffsetScope.of_ranges(asked)).of(state)
    return sum(each.batch == str(batch) for each in found)
