"""Step 3: write the receipts of committed batches, then mirror the cursor."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sluice.errors import CommitConflict, CommitUnknown
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, Lane
from sluice.offsets.filtered import told
from sluice.offsets.origin import Origin
from sluice.offsets.receipts import Receipt
from sluice.progress.judged import mark_judged
from sluice.progress.lacking_rows import lost_with
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.lanes import read_lane
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.progress.unaltered import check_data_table, check_quarantine
from sluice.protocol.plan.doubts import find_doubt, require_no_doubt
from sluice.protocol.settle.acceptance import acceptance
from sluice.protocol.settle.announcements import batch_document
from sluice.protocol.settle.close_quarantine import close_quarantine
from sluice.protocol.settle.counting import AcceptGap, account
from sluice.protocol.settle.explanations import explanations, quarantined_by
from sluice.protocol.settle.lane_by_lane import settle_lanes
from sluice.protocol.settle.mirror import mirror
from sluice.tables.offsets_appends import append_receipt
from sluice.tables.refusals import UNREADABLE

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

    Raises GapUnexplained before the receipt of a batch that does not add up, BatchInDoubt before
    that of one that may hold another topic's records; BrokerUnavailable, CommitFailed or
    CommitUnknown when the next attempt may succeed.
    """
    mark_judged(resources, read_lane(resources))
    lanes = settle_lanes(lambda lane: write_receipts(resources, origin, lane))
    if "forward" not in lanes.problems:
        reach("before mirror")
        mirror(resources)
        reach("after mirror")
    written = list(lanes.require_settled())
    if written:
        resources.offsets.compact_now_and_then()
    return Settlement(tuple(written))


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
    accept = acceptance(resources.spec.data_loss, lane, by_hand)
    written: list[Receipt] = []

    def settle_next() -> bool:
        """Settle the next batch; False when none is due."""
        state = read_unchecked(resources, lane)
        batch = _next_due(state, last)
        if batch is None:
            return False
        reach("before receipt")
        doubt = doubt_about_topics(resources, batch, decided=by_hand is not None)
        # A receipt states that every commit below it was checked. Where a reset is under way, that
        # decides about a RESTORE of the data table.
        (check_data_table if last is None else check_quarantine)(state)
        close_quarantine(resources, state)
        receipt = _write_receipt(resources, state, batch, origin, accept, doubt)
        if receipt is not None:
            written.append(receipt)
        return True

    crossed = (
        f"{resources.spec.pipeline}: {{times}} the offsets table was changed by others. Run again."
    )
    while until_it_lands(resources, settle_next, crossed):
        continue
    return written


def _next_due(state: LaneState, last: int | None) -> Batch | None:
    for due in state.due[:1]:
        if last is None or due.sequence != state.sequence or due.number <= last:
            return due
    return None


def doubt_about_topics(resources: PipelineResources, batch: Batch, *, decided: bool) -> str:
    """What a person has to decide about whose records it holds. Raises BatchInDoubt otherwise."""
    if not decided:
        require_no_doubt(resources, batch)
        return ""
    doubt = find_doubt(resources, batch)
    return doubt.of_receipt if doubt else ""


def _write_receipt(
    resources: PipelineResources,
    state: LaneState,
    batch: Batch,
    origin: Origin,
    accept: AcceptGap,
    doubt: str,
) -> Receipt | None:
    """Write one receipt; None if another process wrote it first. Raises CommitConflict."""
    receipt = with_earlier_losses(state, count_batch(resources, state, batch, accept, doubt))
    try:
        append_receipt(state.snapshot, receipt, origin)
    except CommitConflict:
        if resources.offsets.snapshot().settled(batch.sequence) < batch.number:
            raise
        log.info("%s: another process settled it first", batch)
        return None
    _log_receipt(receipt)
    return receipt


def count_batch(
    resources: PipelineResources, state: LaneState, batch: Batch, accept: AcceptGap, doubt: str = ""
) -> Receipt:
    """The receipt of a committed batch, which is not written yet. Raises GapUnexplained."""
    read_quarantine = partial(quarantined_by, resources, state, batch)
    landed = batch.in_tables(state.data.table_id, state.quarantine.table_id)
    explain = explanations(resources, state, batch)
    return account(landed, state.data, read_quarantine, explain, accept, doubt)


def with_earlier_losses(state: LaneState, receipt: Receipt) -> Receipt:
    """With the quarantined records that are gone, and that the batch was to read again."""
    batch = receipt.batch
    if batch.mode == "append":
        return receipt
    decider = "on_data_loss" if batch.sequence.lane == "forward" else "backfill"
    try:
        lost = lost_with(state, receipt.losses, decider)
    except (*UNREADABLE, CommitUnknown) as problem:
        log.warning("%s: what else is lost with it is unknown: %s", batch, problem)
        return receipt
    return replace(receipt, losses=(*receipt.losses, *lost))


def _log_receipt(receipt: Receipt) -> None:
    for loss in receipt.losses:
        lost = loss.offsets
        log.warning("%s: %d offsets recorded as lost (%s)", lost, lost.span, loss.cause)
    log.info(
        "%s: settled in version %d: %d records, %d quarantined%s, %d gaps",
        receipt.batch,
        receipt.data_version,
        receipt.records,
        receipt.quarantined,
        told(receipt.filtered),
        receipt.gaps,
    )
