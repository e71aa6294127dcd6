"""Topic ranks: in which order the pipeline has read the topics that had one name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sluice.offsets.batches import BatchSequence

if TYPE_CHECKING:
    from sluice.progress.lane_state import LaneState


def topic_ranks(lane: LaneState) -> Mapping[str, int]:
    """The place of each topic id among those of its topic, from 0; none where each has one.

    A topic gets another id only by a reset, so each generation's last plan names all of its own.
    """
    if lane.generation == 1:
        return {}
    seen: dict[str, list[str]] = {}
    for generation in range(1, lane.generation + 1):
        sequence = BatchSequence(lane.pipeline, "forward", generation)
        last = lane.snapshot.planned(sequence)
        for batch in lane.snapshot.batches(sequence, max(last, 1), last=last):
            for planned in batch.ranges:
                ids = seen.setdefault(planned.offsets.partition.topic, [])
                if planned.topic_id not in ids:
                    ids.append(planned.topic_id)
    return {each: rank for ids in seen.values() if len(ids) > 1 for rank, each in enumerate(ids)}
