"""Log ends: what could be read at a moment, and whether the table has reached it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.offsets.batches import BatchReference
from sluice.offsets.ranges import TopicPartition
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources


@dataclass(frozen=True)
class LogEnds:
    """The LSO of every partition that the pipeline reads, and what was planned by then."""

    by_partition: Mapping[TopicPartition, int]
    planned: BatchReference


def read_log_ends(resources: PipelineResources) -> LogEnds:
    """The ends as they are now."""
    planned = _planned(read_unchecked(resources))
    logs = resources.kafka.state(resources.spec).logs
    return LogEnds({at: log.last_stable_offset for at, log in logs.items()}, planned)


def has_reached(resources: PipelineResources, ends: LogEnds) -> bool:
    """Whether a plan that was made since then read the log, and every cursor is at these ends.

    An adopted plan does not describe the present log: a partition may have lost records, or belong
    to another topic.
    """
    lane = read_unchecked(resources)
    cursor = lane.positions
    return _planned(lane) != ends.planned and all(
        cursor.get(partition, -1) >= end for partition, end in ends.by_partition.items()
    )


def _planned(lane: LaneState) -> BatchReference:
    return BatchReference(lane.sequence, range(1, lane.history.planned + 1))
