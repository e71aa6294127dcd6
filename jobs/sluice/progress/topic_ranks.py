"""Topic ranks: what the offsets table says of the topics that had one name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sluice.offsets.batches import BatchSequence
from sluice.offsets.ranges import TopicPartition
from sluice.state_table.topic_ranks import TopicRanks

if TYPE_CHECKING:
    from sluice.progress.lane_state import LaneState


def topic_ranks(lane: LaneState) -> TopicRanks:
    """In which order the pipeline has read them; nothing where each name has had one.

    A topic gets another id only by a reset: each generation's opening and its last plan name all
    of its own.
    """
    return TopicRanks() if lane.generation == 1 else TopicRanks.of(_read(lane))


def _read(lane: LaneState) -> Iterator[tuple[int, TopicPartition, str]]:
    for generation in range(1, lane.generation + 1):
        if opening := lane.resets.by_generation.get(generation):
            for move in opening.cursor:
                yield generation, move.partition, move.after.topic_id
        sequence = BatchSequence(lane.pipeline, "forward", generation)
        last = lane.snapshot.planned(sequence)
        for batch in lane.snapshot.batches(sequence, max(last, 1), last=last):
            for planned in batch.ranges:
                yield generation, planned.offsets.partition, planned.topic_id
