"""Rereading: where reading a batch again, or going back to its start, would lead. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.offsets.batches import Batch
from sluice.offsets.lag import Lag
from sluice.offsets.ranges import TopicPartition
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


def reset_conf(batch: Batch) -> dict[str, object]:
    """The parameters of the DAG `sluice_reset` that preview going back to the batch's start."""
    ranges = (each.offsets for each in batch.ranges if each.offsets.span)
    lines = [f"{each.partition}={each.start}" for each in ranges]
    return {
        "pipeline": batch.sequence.pipeline,
        "target": TO_OFFSETS,
        TARGETS[TO_OFFSETS].parameter: lines,
    }
