"""Lags, for programs."""

from __future__ import annotations

from sluice.cli.output import moment_document
from sluice.offsets.lag import Lag


def partition_document(lag: Lag) -> dict[str, object]:
    """A partition's lag, for programs."""
    age, left = lag.age, lag.time_to_loss
    return {
        "topic": lag.partition.topic,
        "partition": lag.partition.partition,
        "cursor": lag.cursor,
        "log_start_offset": lag.log_start_offset,
        "last_stable_offset": lag.last_stable_offset,
        "end_offset": lag.end_offset,
        "lag": lag.records,
        "held_back": lag.held_back,
        "held_back_since": moment_document(lag.held_back_since),
        "lag_seconds": age.total_seconds() if age is not None else None,
        "time_to_loss_seconds": left.total_seconds() if left is not None else None,
    }
