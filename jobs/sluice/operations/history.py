"""History: the newest batches with their receipts, the newest resets and losses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sluice.offsets.losses import Loss
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import Reset, Resets
from sluice.progress.committed import losses_that_count, newest_receipts
from sluice.progress.lane_state import read_unchecked
from sluice.progress.resources import PipelineResources


@dataclass(frozen=True)
class PipelineHistory:
    """The newest events, latest last; with each receipt, whether a reset undid its batch."""

    receipts: tuple[tuple[Receipt, bool], ...]
    resets: tuple[Reset, ...]
    losses: tuple[Loss, ...]


def read_history(resources: PipelineResources, newest: int) -> PipelineHistory:
    """The newest of each kind, at most `newest`. Does not contact Kafka."""
    lane = read_unchecked(resources)
    losses = sorted(losses_that_count(lane), key=_recorded_at)
    return PipelineHistory(
        tuple(newest_receipts(lane, newest)),
        tuple(_fenced_resets(lane.resets, lane.generation)[-newest:]),
        tuple(losses[-newest:]),
    )


def _fenced_resets(resets: Resets, newest: int) -> list[Reset]:
    """The resets in order, without one that was intended but never fenced."""
    found = sorted(resets.by_generation.items())
    return [reset for generation, reset in found if generation <= newest]


def _recorded_at(loss: Loss) -> datetime:
    assert loss.recorded is not None, "it was read back"
    return loss.recorded.at
