"""Step 3: write the receipts of committed batches, then mirror the cursor."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import Any

from sluice.errors import CommitConflict, ResetNeeded
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, BatchReference, Lane
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import OnDataLoss
from sluice.offsets.origin import Origin
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.receipts import Receipt
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.lanes import read_lane
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table
from sluice.protocol.plan.log_changes import require_same_topics
from sluice.protocol.settle.counting import AcceptGap, account
from sluice.protocol.settle.explanations import explanations, quarantined_by
from sluice.protocol.settle.gaps import UnexplainedGap
from sluice.protocol.settle.lane_by_lane import settle_lanes

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settlement:
    """The receipts written by this call, and earlier ones of the run's own work."""

    receipts: tuple[Receipt, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.receipts)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The batches with their ranges and counts, as JSON values."""
        return [_event(receipt) for receipt in self.receipts]


def settle(
    resources: PipelineResources, origin: Origin, work: BatchReference | None = None
) -> Settlement:
    """Write every receipt that is due, lane by lane, then bring the consumer group to the cursor.

    Given `work`, it also returns the receipts of that work which were written before: by an earlier
    attempt that died, or by maintenance.

    Raises GapUnexplained before the receipt of a batch that does not add up; BrokerUnavailable,
    CommitFailed or CommitUnknown when the next attempt may succeed.
    """
    read_lane(resources)
    lanes = settle_lanes(lambda lane: write_receipts(resources, origin, lane))
    if "forward" not in lanes.problems:
        reach("before mirror")
        mirror(resources)
        reach("after mirror")
    written = list(lanes.require_settled())
    if written:
        resources.offsets.compact_now_and_then(resources.spec.pipeline)
    return Settlement((*written, *_earlier_receipts(resources, work, written)))


def _earlier_receipts(
    resources: PipelineResources, work: BatchReference | None, written: list[Receipt]
) -> list[Receipt]:
    if not work:
        return []
    reported = {each.batch.number for each in written if each.batch.sequence == work.sequence}
    if reported.issuperset(work.batches):
        return []
    own = resources.offsets.snapshot().receipts_of(work.sequence, work.batches[0], work.batches[-1])
    return [each for each in own if each.batch.number not in reported]


def write_receipts(
    resources: PipelineResources,
    origin: Origin,
    lane: Lane,
    last: int | None = None,
    by_hand: AcceptGap | None = None,
) -> list[Receipt]:
    """Write every receipt that is due in a lane, up to batch `last`. Raises as `settle` does.

    `by_hand` decides about unexplained gaps and about batches in doubt; about the other gaps the
    spec's `on_data_loss` does.
    """
    accept = _accept_by_policy(resources.spec.data_loss)
    if lane == "backfill":
        accept = _accept_deleted(accept)
    if by_hand is not None:
        accept = _first_of(by_hand, accept)
    written: list[Receipt] = []
    while True:
        state = read_unchecked(resources, lane)
        batch = _next_due(state, last)
        if batch is None:
            return written
        reach("before receipt")
        doubt = ""
        if last is None:  # Otherwise a reset is under way, and that decides about such a change.
            doubt = doubt_about_topics(resources, batch, decided=by_hand is not None)
            # A receipt states that every commit below it was checked.
            check_data_table(state)
        receipt = _write_receipt(resources, state, batch, origin, accept, doubt)
        if receipt is not None:
            written.append(receipt)


def _next_due(state: LaneState, last: int | None) -> Batch | None:
    due = state.due[0] if state.due else None
    return None if due and last is not None and due.number > last else due


def _accept_deleted(otherwise: AcceptGap) -> AcceptGap:
    """Also accept what retention deleted before a backfill could read it: its rows stay."""

    def accept(partition: TopicPartition, gap: UnexplainedGap) -> LossCause | None:
        if gap.cause is LossKind.DELETED:
            return LossCause(LossKind.NOT_READ_AGAIN)
        return otherwise(partition, gap)

    return accept


def _first_of(first: AcceptGap, otherwise: AcceptGap) -> AcceptGap:
    return lambda at, gap: first(at, gap) or otherwise(at, gap)


def _accept_by_policy(policy: OnDataLoss) -> AcceptGap:
    return lambda _, gap: policy.cause_of_gap(gap.cause)


def doubt_about_topics(resources: PipelineResources, batch: Batch, *, decided: bool) -> str:
    """What a person has to decide about a topic created anew. Raises ResetNeeded otherwise."""
    try:
        require_same_topics(batch, resources.kafka.state(resources.spec))
    except ResetNeeded:
        if not decided:
            raise
        return "a topic was created anew before the receipt"
    return ""


def _write_receipt(
    resources: PipelineResources,
    state: LaneState,
    batch: Batch,
    origin: Origin,
    accept: AcceptGap,
    doubt: str,
) -> Receipt | None:
    """Write one receipt; None if another process wrote it first."""
    receipt = count_batch(resources, state, batch, accept, doubt)
    try:
        state.snapshot.append_receipt(receipt, origin)
    except CommitConflict:
        log.info("%s: another process settled it first", batch)
        return None
    _log_receipt(receipt)
    return receipt


def count_batch(
    resources: PipelineResources, state: LaneState, batch: Batch, accept: AcceptGap, doubt: str = ""
) -> Receipt:
    """The receipt of a committed batch, which is not written yet. Raises GapUnexplained."""
    aside = partial(quarantined_by, resources, state, batch)
    return account(batch, state.data, aside, explanations(resources, state), accept, doubt)


def mirror(resources: PipelineResources) -> None:
    """Commit the cursor to the consumer group: never ahead of the table."""
    lane = read_unchecked(resources)
    cursor = lane.positions
    if resources.spec.consumer_group is None or not cursor:
        return
    resources.kafka.mirror(resources.spec.consumer_group, cursor)
    last = lane.sequence.batch(lane.committed)
    log.info("%s: consumer group %s set to its end", last, resources.spec.consumer_group)


def _log_receipt(receipt: Receipt) -> None:
    for loss in receipt.losses:
        lost = loss.offsets
        log.warning("%s: %d offsets recorded as lost (%s)", lost, lost.span, loss.cause)
    log.info(
        "%s: settled in version %d: %d records, %d quarantined, %d gaps",
        receipt.batch,
        receipt.data_version,
        receipt.records,
        receipt.quarantined,
        receipt.gaps,
    )


def _event(receipt: Receipt) -> dict[str, Any]:
    return {
        "batch": str(receipt.batch),
        "data_version": receipt.data_version,
        "records": receipt.records,
        "quarantined": receipt.quarantined,
        "gaps": receipt.gaps,
        "ranges": [
            {**line.planned.offsets.as_dict(), "records": line.records}
            for line in receipt.counted
            if line.planned.offsets.span
        ],
    }
