"""Log ends: what can be read now, and whether the table has reached it."""

from __future__ import annotations

from collections.abc import Mapping

from sluice.offsets.ranges import TopicPartition
from sluice.progress.lane_state import read_unchecked
from sluice.progress.resources import PipelineResources


def read_log_ends(resources: PipelineResources) -> Mapping[TopicPartition, int]:
    """The LSO of every partition that the pipeline reads."""
    logs = resources.kafka.state(resources.spec).logs
    return {partition: log.last_stable_offset for partition, log in logs.items()}


def has_reached(resources: PipelineResources, ends: Mapping[TopicPartition, int]) -> bool:
    """Whether every cursor is at these ends or beyond them."""
    cursor = read_unchecked(resources).positions
    return all(cursor.get(partition, -1) >= end for partition, end in ends.items())
