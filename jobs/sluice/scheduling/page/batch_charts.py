"""Batch charts: a pipeline's newest batches over time, and what became of their offsets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sluice.offsets.quantities import format_count, format_duration
from sluice.offsets.receipts import GapCount, Receipt
from sluice.operations.history import SettledBatch
from sluice.scheduling.page.charts import Chart, Value, chart


def batch_charts(batches: Sequence[SettledBatch]) -> list[Chart]:
    """Records, duration and the lag that was left, of each batch; the newest on the right."""
    forward = [each for each in batches if each.receipt.batch.sequence.lane == "forward"]
    return [
        chart("Records", [_records(each) for each in batches]),
        chart("Duration", [_took(each) for each in batches]),
        chart("Lag left when planned", [_left(each) for each in forward]),
    ]


def gaps_by_kind(batches: Sequence[SettledBatch]) -> GapCount:
    """The offsets without a row of all these batches, by kind."""
    lines = (line.gaps for each in batches for line in each.receipt.counted)
    return sum(lines, start=GapCount())


def lag_left(receipt: Receipt) -> int:
    """Offsets that Kafka showed beyond the batch when it was planned."""
    ranges = (line.planned for line in receipt.counted)
    return sum(max(0, each.last_stable_offset - each.offsets.end) for each in ranges)


def _records(each: SettledBatch) -> Value:
    found = each.receipt.records
    return Value(str(each.receipt.batch), found, format_count(found, "record"))


def _took(each: SettledBatch) -> Value:
    took: timedelta | None = each.took
    if took is None:
        return Value(str(each.receipt.batch), None, "unknown")
    return Value(str(each.receipt.batch), took.total_seconds(), format_duration(took))


def _left(each: SettledBatch) -> Value:
    left = lag_left(each.receipt)
    return Value(str(each.receipt.batch), left, format_count(left, "offset"))
