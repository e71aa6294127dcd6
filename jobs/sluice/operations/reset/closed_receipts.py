"""Closed receipts: those of batches that the table held, unsettled, when a reset closed them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial

from sluice.errors import CommitConflict, GapUnexplained, ResetNeeded
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.origin import Origin
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import Reset
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.protocol.settle.acceptance import acceptance
from sluice.protocol.settle.close_quarantine import fence_quarantine
from sluice.protocol.settle.write_receipts import (
    count_batch,
    doubt_about_topics,
    with_earlier_losses,
)
from sluice.tables.offsets_appends import append_receipt

log = logging.getLogger(__name__)


def receipt_of(resources: PipelineResources, state: LaneState, batch: Batch) -> Receipt | None:
    """The receipt that a batch can get; None unless it adds up, and leaves no doubt."""
    accept = acceptance(resources.spec.data_loss, batch.sequence.lane)
    try:
        doubt_about_topics(resources, batch, decided=False)
        return with_earlier_losses(state, count_batch(resources, state, batch, accept))
    except (GapUnexplained, ResetNeeded) as problem:
        log.warning("%s: is not counted, and read again: %s", batch, problem)
        return None


def write_closed_receipts(resources: PipelineResources, closing: Reset, origin: Origin) -> None:
    """The receipts that a reset and those written again with it owe; its fence stands.

    Before it is done, so that the process that finishes it writes them. No closed attempt can add
    to the quarantine from then on.
    """
    state = read_unchecked(resources).with_resets((*closing.earlier, closing))
    settled = state.snapshot.settled
    fence_quarantine(
        resources,
        state,
        {e: state.snapshot.batches(e, settled(e) + 1, last=n) for e, n in _closed(closing)},
    )
    for sequence, last in _closed(closing):
        if last > state.snapshot.settled(sequence):
            write = partial(_write_next, resources, closing, sequence, last, origin)
            crossed = f"{closing.pipeline}: the offsets table was changed by others. Run again."
            while until_it_lands(resources, write, crossed):
                continue


def _closed(closing: Reset) -> Iterator[tuple[BatchSequence, int]]:
    for reset in (*closing.earlier, closing):
        yield from ((each, reset.closed_at[each.lane]) for each in reset.closes)


def _write_next(
    resources: PipelineResources, closing: Reset, sequence: BatchSequence, last: int, origin: Origin
) -> bool:
    """Write the next receipt of a sequence; False where none is due, or can be written."""
    state = read_unchecked(resources).with_resets((*closing.earlier, closing))
    due = state.snapshot.batches(sequence, state.snapshot.settled(sequence) + 1, last=last)[:1]
    receipt = receipt_of(resources, state, due[0]) if due else None
    if receipt is None:
        return False
    try:
        append_receipt(state.snapshot, receipt, origin)
    except CommitConflict:
        if resources.offsets.snapshot().settled(sequence) < due[0].number:
            raise
    log.info("%s: settled, as the table holds it", due[0])
    return True
