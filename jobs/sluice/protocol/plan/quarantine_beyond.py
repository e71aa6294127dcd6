"""Quarantine beyond the end: missing rows that a reset was to read again, but the log has lost.

A log that ends below what an earlier generation has read contradicts no cursor below its end: the
next batch reads what is there, and nothing shows the quarantined records that came after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sluice.errors import TableRefused
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import TopicIdPartition
from sluice.progress.lane_state import LaneState
from sluice.progress.quarantine_trust import quarantine_way_back
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.lacking_in_kafka import lacking_in_kafka


def require_none_beyond(resources: PipelineResources, lane: LaneState, state: KafkaState) -> None:
    """Raises TableRefused where quarantined records are gone, and no batch will read them again.

    Checks only logs that end below what an earlier generation has read. It reads the log there,
    because a marker is not one of the batch's records.
    """
    shorter = set(_shorter(lane, state))
    if not shorter:
        return
    cause = LossCause(LossKind.ASIDE_GONE, actor="")
    beyond = [
        str(each.lacking)
        for each in lacking_in_kafka(resources, lane)
        if each.lacking.place in shorter and list(each.losses(cause))
    ]
    if beyond:
        raise TableRefused(
            f"{lane.quarantine.uri}: expected to read again {'; '.join(beyond)}, found the log"
            " shorter than it was. ",
            quarantine_way_back(lane.pipeline),
        )


def _shorter(lane: LaneState, state: KafkaState) -> Iterator[TopicIdPartition]:
    """The logs that end below what the generations before have read."""
    for (topic_id, at), end in lane.reach.ends.items():
        log = state.logs.get(at)
        if log is not None and log.topic_id == topic_id and log.end_offset < end:
            yield at.of(topic_id)
