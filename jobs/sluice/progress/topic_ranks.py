"""Topic ranks: what the plans say of the topics that had one name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sluice.offsets.batches import BatchSequence, PlannedRange
from sluice.state_table.topic_ranks import TopicRanks

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
    return TopicRanks.of([each or () for each in known], is_whole=None not in known)


def _read(lane: LaneState, generation: int) -> Sequence[PlannedRange] | None:
    """What a generation has read last; None where plans of it are gone."""
    forward = _last_plan(lane, BatchSequence(lane.pipeline, "forward", generation))
    if forward or forward is None:
        return forward
    backfill = BatchSequence(lane.pipeline, "backfill", generation)
    planned = lane.snapshot.batches(backfill, 1, last=lane.snapshot.planned(backfill))
    return [planned_range for each in planned for planned_range in each.ranges]


def _last_plan(lane: LaneState, sequence: BatchSequence) -> Sequence[PlannedRange] | None:
    last = lane.snapshot.planned(sequence)
    closing = lane.resets.by_generation.get(sequence.generation + 1)
    counts = closing.closed_at["forward"] if closing else 0
    found = lane.snapshot.batches(sequence, max(last, 1), last=last)
    if last < counts or (last and not found):
        return None
    return [planned_range for each in found for planned_range in each.ranges]
