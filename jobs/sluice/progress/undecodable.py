"""Undecodable records: how many of a batch are in quarantine now, whatever its receipt says.

Records that were dropped, replayed or read again no longer count.
"""

from __future__ import annotations

from dataclasses import dataclass

from sluice.errors import TooManyQuarantined
from sluice.moves import Move
from sluice.offsets.batches import Batch
from sluice.offsets.quarantine_tickets import JudgedRecords
from sluice.offsets.quarantined import RecordState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition
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
    if limit is not None and seen and left / seen > limit:
        left = _in_quarantine(resources, lane, receipt.batch, RecordState.LIVE)
    return QuarantinedShare(str(receipt.batch), left / seen if seen else 0.0)


def too_many_undecodable(
    resources: PipelineResources, lane: LaneState
) -> TooManyQuarantined | None:
    """What the last attempt at a planned batch ended with, if it would end so again."""
    for batch in lane.unfinished[:1]:
        count = batch.span and _in_quarantine(resources, lane, batch, RecordState.WAITING)
        told = _over_budget(resources, batch, count) if count else ""
        if told:
            return TooManyQuarantined(
                f"{batch}: {told}; allowed: {resources.spec.quarantine.budget}."
                " Nothing of it is committed. ",
                Move("quarantine list", (resources.spec.pipeline,)),
                " shows all reasons. Correct the schema in the spec, or raise one of the two"
                " limits; the next run tries again.",
            )
    return None


def _over_budget(resources: PipelineResources, batch: Batch, count: int) -> str:
    """How many records are too many, by what the last attempt has judged; "" where none are.

    Where that is not recorded, by the batch's offsets, which may be more than its records. So an
    earlier Sluice's refusal is believed where `only` leaves records out. What a replacement is
    allowed depends on what it replaces.
    """
    spec, quarantine = resources.spec, resources.quarantine.snapshot()
    budget = spec.quarantine.budget.for_lane(batch.sequence.lane)
    again = batch.mode == "replace"
    if judged := quarantine.judged(batch):
        told = f"{judged.undecodable:,} of {judged.records:,} records are undecodable"
        told += ", and were not before" if again else ""
        return told if budget.refuses(judged) else ""
    # All that were judged may have been undecodable.
    may_refuse = spec.only is not None and budget.refuses(JudgedRecords(count, count))
    believed = may_refuse and quarantine.has_given_up(batch)
    if again or not (believed or budget.refuses(JudgedRecords(batch.span, count))):
        return ""
    told = f"{count:,} of at most {batch.span:,} records are undecodable"
    return f"{told}, too many of those that `only` lands" if believed else told


def _in_quarantine(
    resources: PipelineResources, lane: LaneState, batch: Batch, state: RecordState
) -> int:
    """How many of the batch's rows are in this state."""
    asked: dict[TopicIdPartition, list[OffsetRange]] = {}
    for each in batch.ranges:
        asked.setdefault(each.place, []).append(each.offsets)
    found = read_quarantined(resources, lane, OffsetScope.of_ranges(asked)).of(state)
    return sum(each.batch == str(batch) for each in found)
