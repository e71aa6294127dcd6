"""Rereading: where reading a batch again, or going back to its start, would lead. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sluice.offsets.batches import Batch
from sluice.offsets.lag import Lag
from sluice.offsets.ranges import TopicPartition
from sluice.operations.history import SettledBatch
from sluice.positions.names import TARGETS, TO_OFFSETS


@dataclass(frozen=True)
class Held:
    """How many of a batch's offsets Kafka still holds, and how far below the cursor they begin.

    None if Kafka has not answered, or a partition is gone or has no cursor.
    """

    offsets: int | None
    below_cursor: int | None


def held_of(batch: Batch, lags: Mapping[TopicPartition, Lag]) -> Held:
    """Kafka's last answer about the batch's offsets."""
    read = [each.offsets for each in batch.ranges if each.offsets.span]
    told = [(each, lags.get(each.partition)) for each in read]
    held, below = 0, 0
    for offsets, lag in told:
        if lag is None or lag.log_start_offset is None or lag.last_stable_offset is None:
            return Held(None, None)
        start = max(offsets.start, lag.log_start_offset)
        held += max(0, min(offsets.end, lag.last_stable_offset) - start)
        if lag.cursor is None:
            return Held(None, None)
        below += max(0, lag.cursor - offsets.start)
    return Held(held, below)


def reread_conf(batch: str) -> dict[str, object]:
    """The parameters of the pipeline's DAG that show what reading a batch again would do."""
    return {"dry_run": True, "reprocess_batches": [batch]}


def window_conf(batches: Sequence[SettledBatch], now: datetime) -> dict[str, object]:
    """The parameters that show what reading the time window of the last batch would do.

    From the plan before to the batch's own plan, in whole minutes; the last hour before any batch.
    """
    plans = sorted(
        {
            each.planned.at
            for each in batches
            if each.planned and each.receipt.batch.sequence.lane == "forward"
        }
    )
    until = plans[-1] if plans else now
    since = plans[-2] if len(plans) > 1 else until - timedelta(hours=1)
    end = until.replace(second=0, microsecond=0) + timedelta(minutes=1)
    return {
        "dry_run": True,
        "reprocess_from": _minute(since.replace(second=0, microsecond=0)),
        "reprocess_to": _minute(end),
    }


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def reset_conf(batch: Batch) -> dict[str, object]:
    """The parameters of the DAG `sluice_reset` that preview going back to the batch's start."""
    ranges = (each.offsets for each in batch.ranges if each.offsets.span)
    lines = [f"{each.partition}={each.start}" for each in ranges]
    return {
        "pipeline": batch.sequence.pipeline,
        "target": TO_OFFSETS,
        TARGETS[TO_OFFSETS].parameter: lines,
    }
