"""Status: where the cursor is, how far it is behind, and what is unfinished."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sluice.offsets.lag import Lag
from sluice.offsets.losses import Loss
from sluice.progress.committed import losses_that_count
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.lags import read_lags, unknown_times
from sluice.protocol.plan.start import start_without_effect


@dataclass(frozen=True)
class PipelineStatus:
    """Both lanes, each partition's lag, the losses that count; `notes` are sentences about them."""

    forward: LaneState
    backfill: LaneState
    lags: tuple[Lag, ...]
    losses: tuple[Loss, ...]
    notes: tuple[str, ...]


def read_status(resources: PipelineResources) -> PipelineStatus:
    """Read the tables and Kafka; nothing is written, and an altered table is no error.

    Raises BrokerUnavailable when Kafka does not answer.
    """
    forward, backfill = read_unchecked(resources), read_unchecked(resources, "backfill")
    lags = read_lags(resources, forward.positions, resources.kafka.state(resources.spec))
    ineffective = start_without_effect(resources, forward.snapshot)
    return PipelineStatus(
        forward,
        backfill,
        tuple(lags),
        tuple(losses_that_count(forward)),
        (
            *unknown_times(lags),
            *([ineffective] if ineffective else []),
            *_unfinished_backfill(backfill),
        ),
    )


def _unfinished_backfill(backfill: LaneState) -> Iterator[str]:
    if backfill.unfinished:
        named = ", ".join(map(str, backfill.unfinished))
        yield f"to be read again, not committed yet: {named}. The next backfill lands them."
