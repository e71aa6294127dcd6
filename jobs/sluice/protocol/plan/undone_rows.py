"""Undone rows: what a RESTORE took from the table, and no topic has any more to read again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sluice.offsets.batches import Batch
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, without
from sluice.offsets.resets import sequences_up_to
from sluice.progress.committed import committed_ranges, losses_that_count
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.log_identity import with_former_topics


@dataclass(frozen=True)
class UndoneForGood(Loss):
    """Offsets whose rows a RESTORE has undone, and whose topic was created anew since."""

    def __str__(self) -> str:
        return (
            f"{self.offsets}: expected topic id {self.topic_id}, to read again what a RESTORE has"
            f" undone, found another: {self.offsets.span} offsets lost ({self.cause})"
        )


def undone_for_good(
    resources: PipelineResources, lane: LaneState, state: KafkaState
) -> list[UndoneForGood]:
    """The undone offsets of topics created anew, once: before the first plan of a generation."""
    if lane.history.planned:
        return []
    gone: dict[TopicIdPartition, list[OffsetRange]] = {}
    undone = list(_undone(lane))
    read_once = {planned.offsets.partition.topic for each in undone for planned in each.ranges}
    logs = with_former_topics(resources, state, read_once).logs
    # By topic: one that was created anew may have fewer partitions.
    there = {at.topic: log.topic_id for at, log in logs.items()}
    for batch in undone:
        for planned in batch.ranges:
            now = there.get(planned.offsets.partition.topic, planned.topic_id)
            if now != planned.topic_id and planned.offsets.span:
                place = planned.place
                gone.setdefault(place, []).append(planned.offsets)
    if not gone:
        return []
    read, told = committed_ranges(lane, OffsetScope.of_ranges(gone)), losses_that_count(lane)
    return [
        UndoneForGood(part, place.topic_id, LossCause(LossKind.GONE))
        for place, ranges in gone.items()
        for part in without(
            ranges,
            [
                *(each.offsets for each in read.at(place)),
                *(each.offsets for each in told if each.topic_id == place.topic_id),
            ],
        )
    ]


def _undone(lane: LaneState) -> Iterator[Batch]:
    """The batches that had landed, and before which a reset closed their generation."""
    for closed in sequences_up_to(lane.pipeline, lane.generation - 1, ["forward"]):
        last = lane.resets.closed_at(closed)
        for batch in lane.snapshot.batches(closed, last + 1, last=lane.snapshot.planned(closed)):
            if batch.number <= lane.snapshot.settled(closed) or lane.data.log.commit_of(batch):
                yield batch
