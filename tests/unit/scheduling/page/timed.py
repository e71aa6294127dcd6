"""Batches over time, for tests of pictures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sluice.offsets.batches import Batch, Lane
from sluice.offsets.origin import Origin
from sluice.offsets.receipts import GapCount, PartitionCount, Receipt
from sluice.operations.timeline import TimedBatch

from tests.unit.builders import CLUSTER, planned, sequence
from tests.unit.builders import offsets as offset_range

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def at(minutes: float) -> datetime:
    return NOON + minutes * MINUTE


def unsettled(
    number: int, offsets: tuple[int, int], since: float, stable: int, lane: Lane = "forward"
) -> TimedBatch:
    """One that was planned at a minute, when the log ended at `stable`."""
    ranges = (planned(offset_range(*offsets), stable=stable),)
    batch = Batch(sequence(lane=lane), number, "append", CLUSTER, ranges)
    return TimedBatch(batch, Origin("run1", "airflow:scheduled", at(since)))


def settled(
    number: int,
    offsets: tuple[int, int],
    since: float,
    until: float,
    stable: int,
    **more: object,
) -> TimedBatch:
    """The same, which landed at a minute and was settled half a minute later."""
    lane: Lane = "backfill" if more.get("lane") == "backfill" else "forward"
    found = unsettled(number, offsets, since, stable, lane)
    bad = int(str(more.get("quarantined", 0)))
    (line,) = found.batch.ranges
    count = PartitionCount(line, line.offsets.span - bad, bad, GapCount())
    by = Origin(str(more.get("run", "run1")), "airflow:scheduled", at(until + 0.5))
    receipt = Receipt(found.batch, (count,), number, recorded=by)
    return TimedBatch(
        found.batch, found.planned, at(until), receipt, undone=bool(more.get("undone"))
    )
