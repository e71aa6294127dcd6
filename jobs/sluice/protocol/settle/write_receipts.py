"""Verb three: write the receipts of what is committed, then mirror the cursor."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from sluice.broker.raw_log import read_raw_log
from sluice.errors import CommitConflict
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, BatchReference, Lane
from sluice.offsets.origin import Origin
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.receipts import Receipt, Span
from sluice.offsets.resets import LANES
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table
from sluice.protocol.plan.log_changes import require_same_topics
from sluice.protocol.settle.counting import Accept, Explain, account
from sluice.protocol.settle.gaps import Cause, Gaps, UnexplainedGap, explain

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settlement:
    """The receipts that were written now, and others of a run's own work."""

    receipts: tuple[Receipt, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.receipts)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The batches with their ranges and counts, as JSON-able values."""
        return [_event(receipt) for receipt in self.receipts]


def settle(
    parts: PipelineResources, origin: Origin, work: BatchReference | None = None
) -> Settlement:
    """Write every receipt that is due, lane by lane, then bring the consumer group to the cursor.

    A run that says what it worked on is told the receipts of that in any case: an earlier attempt
    may have written them and died, or maintenance may have come first.

    Raises GapUnexplained before the receipt of a batch that does not add up; BrokerUnavailable,
    CommitFailed or CommitUnknown when it should be tried again.
    """
    snapshot, history, _ = parts.progress(parts.offsets.snapshot)
    check_data_table(parts, snapshot, history.sequence)
    written = [receipt for lane in LANES for receipt in write_receipts(parts, origin, lane)]
    reach("before mirror")
    mirror(parts)
    reach("after mirror")
    if written:
        parts.offsets.compact_now_and_then(parts.spec.pipeline)
    return Settlement((*written, *_written_before(parts, work, written)))


def _written_before(
    parts: PipelineResources, work: BatchReference | None, now: list[Receipt]
) -> list[Receipt]:
    if not work:
        return []
    told = {each.batch.number for each in now if each.batch.sequence == work.sequence}
    if told.issuperset(work.batches):
        return []
    own = parts.offsets.snapshot().receipts_of(work.sequence, work.batches[0], work.batches[-1])
    return [each for each in own if each.batch.number not in told]


def write_receipts(
    parts: PipelineResources,
    origin: Origin,
    lane: Lane,
    last: int | None = None,
    accept: Accept | None = None,
) -> list[Receipt]:
    """Write every receipt that is due in a lane, or those up to a batch. Raises as `settle` does.

    `accept` decides about unexplained gaps; without it the spec's `on_data_loss` does.
    """
    accept = accept or (_record if parts.records_losses else _refuse)
    if lane == "backfill":
        accept = _not_read_again(accept)
    written: list[Receipt] = []
    while batch := _next_due(parts, lane, last):
        reach("before receipt")
        if last is None:  # Otherwise a reset is under way, which is the decision about it.
            require_same_topics(batch, parts.kafka.state(parts.spec))
            # The receipt says that every commit below it was looked at.
            check_data_table(parts, parts.offsets.snapshot(), batch.sequence)
        receipt = _write_receipt(parts, batch, origin, accept)
        if receipt is not None:
            written.append(receipt)
    return written


def _next_due(parts: PipelineResources, lane: Lane, last: int | None) -> Batch | None:
    _, history, committed = parts.progress(parts.offsets.snapshot, lane)
    due = committed if last is None else min(last, committed)
    return history.batch(history.settled + 1) if history.settled < due else None


def _not_read_again(otherwise: Accept) -> Accept:
    """What retention took before a backfill could read it is no reason to stop: its rows stay."""

    def accept(partition: TopicPartition, gap: UnexplainedGap) -> str | None:
        if gap.cause == Cause.DELETED:
            return f"{gap.cause}; not read again, the rows that were there stay"
        return otherwise(partition, gap)

    return accept


def _record(partition: TopicPartition, gap: UnexplainedGap) -> str | None:
    return str(gap.cause)


def _refuse(partition: TopicPartition, gap: UnexplainedGap) -> str | None:
    return None


def _write_receipt(
    parts: PipelineResources, batch: Batch, origin: Origin, accept: Accept
) -> Receipt | None:
    """Write one receipt; None when somebody else has written it meanwhile."""
    receipt = account(batch, parts.data, parts.quarantine, explainer(parts), accept)
    try:
        parts.offsets.snapshot().append_receipt(receipt, origin)
    except CommitConflict:
        log.info("%s: somebody else has just settled it", batch)
        return None
    _report(receipt)
    return receipt


def explainer(parts: PipelineResources) -> Explain:
    """What asks Kafka's own log about missing offsets."""

    def ask(partition: TopicPartition, missing: list[Span]) -> Gaps:
        pages = read_raw_log(parts.client, partition, missing)
        return explain(missing, pages, compacts=parts.kafka.compacts(partition.topic))

    return ask


def mirror(parts: PipelineResources) -> None:
    """Set the consumer group to the end of what is committed: never ahead of the table."""
    _, history, committed = parts.progress(parts.offsets.snapshot)
    cursor = {each: at.offsets.end for each, at in history.cursor_at(committed).items()}
    if parts.spec.consumer_group is None or not cursor:
        return
    parts.kafka.mirror(parts.spec.consumer_group, cursor)
    last = history.sequence.batch(committed)
    log.info("%s: consumer group %s is at its end", last, parts.spec.consumer_group)


def _report(receipt: Receipt) -> None:
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
