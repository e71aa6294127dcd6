"""Quarantine beyond the end: lacking rows that a reset was to read again, and the log has lost.

A log that ends below what an earlier generation has read contradicts no cursor below its end: the
next batch reads what is there, and nothing tells of the quarantined records that were behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sluice.errors import TableRefused
from sluice.offsets.batches import PlannedRange
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, within
from sluice.progress.lacking_rows import lacking_but_for, to_be_read
from sluice.progress.lane_state import LaneState
from sluice.progress.quarantine_trust import quarantine_way_back


def require_none_beyond(lane: LaneState, state: KafkaState) -> None:
    """Raises TableRefused where quarantined records are gone, and no batch will read them again.

    Looks only where the log ends below what an earlier generation has read.
    """
    ends = _ends_below(lane, state)
    if not ends:
        return
    lacking = lacking_but_for(lane, list(_still_to_be_read(lane, ends)))
    beyond = [str(each) for each in lacking if each.place in ends]
    if beyond:
        raise TableRefused(
            f"{lane.quarantine.uri}: expected to read again {'; '.join(beyond)}, found the log"
            " shorter than it was. ",
            quarantine_way_back(lane.pipeline),
        )


def _ends_below(lane: LaneState, state: KafkaState) -> Mapping[TopicIdPartition, int]:
    """Where the logs end that are shorter than what the generations before have read."""
    return {
        TopicIdPartition(topic_id, at.partition): log.end_offset
        for (topic_id, at), end in lane.reach.ends.items()
        if (log := state.logs.get(at)) is not None
        and log.topic_id == topic_id
        and log.end_offset < end
    }


def _still_to_be_read(
    lane: LaneState, ends: Mapping[TopicIdPartition, int]
) -> Iterator[PlannedRange]:
    for each in to_be_read(lane):
        held = OffsetRange(each.offsets.partition, 0, ends.get(each.place, each.offsets.end))
        yield from (replace(each, offsets=part) for part in within([each.offsets], [held]))
