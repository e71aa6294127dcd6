"""An outlook as text: a summary, remarks, and plain lines for a log. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from sluice.offsets.batches import Batch
from sluice.offsets.lag import Lag, loss_told
from sluice.offsets.quantities import cursor_text, format_count, format_size
from sluice.protocol.plan.outlook import Estimate, Outlook


def summary_of(outlook: Outlook) -> str:
    """The run in one line."""
    if not outlook.batches:
        return f"{outlook.pipeline}: {_nothing(outlook)}"
    if not outlook.ranges:
        return f"{outlook.pipeline}: {_empty(outlook)}"
    parts = [
        f"{what}: {_batches(len(batches))}, {_offsets(sum(each.span for each in batches))}"
        for what, batches in (
            ("planned before, not committed yet", outlook.adopted),
            ("would be planned", outlook.planned),
        )
        if batches
    ]
    estimate = _estimate_text(outlook.basis.estimate(outlook.ranges))
    return f"{outlook.pipeline}: {'; '.join(parts)}, {estimate}"


def _nothing(outlook: Outlook) -> str:
    if outlook.reads_again:
        return "nothing to read again"
    cursor = {each.partition: each.cursor for each in outlook.lags if each.cursor is not None}
    return f"nothing new: {cursor_text(cursor)}" if cursor else "nothing new"


def _empty(outlook: Outlook) -> str:
    """Batches without a record: the first one, which says where a pipeline begins."""
    holds = any(each.log_start_offset != each.last_stable_offset for each in outlook.lags)
    why = "it begins where the topic ends" if holds else "the topic is empty"
    return f"{why}: nothing to read; {_batches(len(outlook.batches))} would note where it begins"


def remarks_of(outlook: Outlook) -> Iterator[str]:
    """Losses, remaining work, open transactions and notes, one line each."""
    for loss in outlook.losses:
        yield f"{loss}; would be recorded as lost"
    if outlook.later:
        yield f"left for later runs: {_offsets(outlook.later)}, {_batches(outlook.batches_later)}"
    yield from filter(None, (each.waiting for each in outlook.lags))
    yield from outlook.notes


def lines_of(outlook: Outlook) -> Iterator[str]:
    """The whole outlook as plain text, for a log."""
    yield summary_of(outlook)
    for batch in outlook.batches:
        yield from _batch_lines(batch)
    where = "read again from" if outlook.reads_again else "cursor"
    for lag in outlook.lags:
        yield f"{lag.partition}: {where} {_known(lag.cursor)}, {_lag_text(lag)}"
    yield from remarks_of(outlook)


def _batch_lines(batch: Batch) -> Iterator[str]:
    for each in (planned.offsets for planned in batch.ranges if planned.offsets.span):
        yield f"{batch} ({batch.mode}): {each}: {_offsets(each.span)}"


def _lag_text(lag: Lag) -> str:
    held = f"[{_known(lag.log_start_offset)}, {_known(lag.last_stable_offset)})"
    told = loss_told([lag])
    loss = told if told in ("all read", "kept for ever") else f"time to loss {told}"
    return f"Kafka holds {held}, {loss}"


def _estimate_text(estimate: Estimate) -> str:
    return (
        f"about {format_size(estimate.kafka_bytes)} in Kafka, {format_size(estimate.table_bytes)}"
        f" and {format_count(estimate.files, 'file')} in the table (estimated)"
    )


def _batches(number: int) -> str:
    return format_count(number, "batch", "batches")


def _offsets(number: int) -> str:
    return format_count(number, "offset")


def _known(value: int | None) -> str:
    return "unknown" if value is None else str(value)
