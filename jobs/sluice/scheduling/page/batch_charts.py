"""Batch charts: a pipeline's newest batches over time, and what became of their offsets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sluice.offsets.quantities import format_count, format_duration
from sluice.offsets.receipts import GapCount
from sluice.operations.history import SettledBatch
from sluice.scheduling.page.charts import Chart, Value, chart


def batch_charts(batches: Sequence[SettledBatch]) -> list[Chart]:
    """Records and duration of each batch; the newest on the right."""
    return [
        chart("Records", [_records(each) for each in batches]),
        chart("Duration", [_took(each) for each in batches]),
    ]


def gaps_by_kind(batches: Sequence[SettledBatch]) -> GapCount:
    """The offsets without a row of all these batches, by kind."""
    lines = (line.gaps for each in batches for line in each.receipt.counted)
    return sum(lines, start=GapCount())


def _records(each: SettledBatch) -> Value:
    found = each.receipt.records
    return Value(str(each.receipt.batch), found, format_count(found, "record"))


def _took(each: SettledBatch) -> Value:
    took: timedelta | None = each.took
    if took is None:
        return Value(str(each.receipt.batch), None, "unknown")
    return Value(str(each.receipt.batch), took.total_seconds(), format_duration(took))
