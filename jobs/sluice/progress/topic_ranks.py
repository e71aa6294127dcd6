"""Topic ranks: what the plans say of the topics that had one name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sluice.offsets.batches import Batch, BatchSequence, PlannedRange
from sluice.state_table.topic_ranks import Read, TopicRanks

if TYPE_CHECKING:
    from sluice.progress.lane_state import LaneState


def topic_ranks(lane: LaneState) -> TopicRanks:
    """In which order the pipeline has read them; nothing where each name has had one.

    A topic gets another id only by a reset: a generation's last plan names all of its own. What a
    reset only opened, or a recovery supposes, was not read.
    """
    if lane.generation == 1:
        return TopicRanks()
    known = [_read(lane, each) for each in range(1, lane.generation + 1)]
    return TopicRanks.of([each or ((), ()) for each in known], is_whole=None not in known)


def _read(lane: LaneState, generation: int) -> Read | None:
    """What a generation has read; None where plans of it are gone."""
    forward = BatchSequence(lane.pipeline, "forward", generation)
    last, snapshot = lane.snapshot.planned(forward), lane.snapshot
    closing = lane.resets.by_generation.get(generation + 1)
    if last < (closing.closed_at["forward"] if closing else 0):
        return None
    if last:
        first, newest = (_ranges(snapshot.batches(forward, at, last=at)) for at in (1, last))
        return (first, newest) if first and newest else None
    backfill = BatchSequence(lane.pipeline, "backfill", generation)
    every = _ranges(snapshot.batches(backfill, 1, last=snapshot.planned(backfill)))
    return every, every


def _ranges(batches: Iterable[Batch]) -> list[PlannedRange]:
    return [planned for each in batches for planned in each.ranges]
