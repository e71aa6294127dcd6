"""Step 3: write the receipts of committed batches, then mirror the cursor."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

from sluice.broker.raw_log import read_raw_log
from sluice.errors import CommitConflict
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, Lane
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import OnDataLoss
from sluice.offsets.origin import Origin
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.receipts import Receipt, Span
from sluice.offsets.resets import LANES
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.lanes import read_lane
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.progress.unaltered import check_data_table
from sluice.protocol.plan.log_changes import require_same_topics
from sluice.protocol.settle.announcements import batch_document
from sluice.protocol.settle.counting import AcceptGap, ExplainGaps, account
from sluice.protocol.settle.gaps import Gaps, UnexplainedGap, explain
from sluice.protocol.settle.mirror import mirror

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settlement:
    """The receipts that a call has written."""

    receipts: tuple[Receipt, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.receipts)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The batches with their ranges and counts, as JSON values."""
        return [batch_document(receipt) for receipt in self.receipts]


def settle(resources: PipelineResources, origin: Origin) -> Settlement:
    """Write every receipt that is due, lane by lane, then bring the consumer group to the cursor.

    Raises GapUnexplained before the receipt of a batch that does not add up; BrokerUnavailable,
    CommitFailed or CommitUnknown when the next attempt may succeed.
    """
    read_lane(resources)
    written = [receipt for lane in LANES for receipt in write_receipts(resources, origin, lane)]
    reach("before mirror")
    mirror(resources)
    reach("after mirror")
    if written:
        resources.offsets.compact_now_and_then()
    return Settlement(tuple(written))


def write_receipts(
    resources: PipelineResources,
    origin: Origin,
    lane: Lane,
    last: int | None = None,
    accept: AcceptGap | None = None,
) -> list[Receipt]:
    """Write every receipt that is due in a lane, up to batch `last`. Raises as `settle` does.

    `accept` decides about unexplained gaps; without it the spec's `on_data_loss` does.
    """
    accept = accept or _accept_by_policy(resources.spec.data_loss)
    if lane == "backfill":
        accept = _accept_deleted(accept)
    written: list[Receipt] = []

    def settle_next() -> bool:
        """Settle the next batch; False when none is due."""
        state = read_unchecked(resources, lane)
        batch = _next_due(state, last)
        if batch is None:
            return False
        reach("before receipt")
        if last is None:  # Otherwise a reset is under way, and that decides about such a change.
            require_same_topics(batch, resources.kafka.state(resources.spec))
            # A receipt states that every commit below it was checked.
            check_data_table(state)
        receipt = _write_receipt(resources, state, batch, origin, accept)
        if receipt is not None:
            written.append(receipt)
        return True

    crossed = (
        f"{resources.spec.pipeline}: {{times}} the offsets table was changed by others. Run again."
    )
    while until_it_lands(settle_next, crossed):
        continue
    return written


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


def _accept_by_policy(policy: OnDataLoss) -> AcceptGap:
    return lambda _, gap: policy.cause_of_gap(gap.cause)


def _write_receipt(
    resources: PipelineResources, state: LaneState, batch: Batch, origin: Origin, accept: AcceptGap
) -> Receipt | None:
    """Write one receipt; None if another process wrote it first. Raises CommitConflict."""
    quarantine = resources.quarantine.snapshot()
    landed = replace(batch, data_table_id=state.data.table_id)
    receipt = account(landed, state.data, quarantine, explain_from_log(resources), accept)
    try:
        state.snapshot.append_receipt(receipt, origin)
    except CommitConflict:
        if resources.offsets.snapshot().settled(batch.sequence) < batch.number:
            raise
        log.info("%s: another process settled it first", batch)
        return None
    _log_receipt(receipt)
    return receipt


def explain_from_log(resources: PipelineResources) -> ExplainGaps:
    """The lookup that explains missing offsets from Kafka's raw log."""

    def explain_missing(partition: TopicPartition, missing: list[Span]) -> Gaps:
        pages = read_raw_log(resources.client, partition, missing)
        return explain(missing, pages, compacts=resources.kafka.compacts(partition.topic))

    return explain_missing


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
