"""Logs of kept rows: a reset keeps the rows below its cursors only of the logs that are there."""

from __future__ import annotations

from sluice.offsets.batches import Cursor, PlannedRange, of_topics_there
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import TopicPartition
from sluice.operations.reset.standing import Standing
from sluice.positions.position import Moves
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.fingerprints import unmoved
from sluice.protocol.plan.log_changes import (
    Contradiction,
    compare_held,
    require_no_contradiction,
    require_same_cluster,
)
from sluice.protocol.plan.log_identity import compare_logs, known_fingerprints


def require_logs_of_kept_rows(
    resources: PipelineResources, standing: Standing, moves: Moves
) -> None:
    """Raises ResetNeeded where rows would stay that were read from another log than is there.

    A cursor that moves back on such a log may: to where an earlier batch shows that it is the same.
    """
    lane, position = standing.forward, standing.position
    after = {each: moved.after for each, moved in moves.items()}
    state = resources.kafka.state(resources.spec)
    there = of_topics_there(position.held, state.logs)
    stays = unmoved(there, after)
    require_same_cluster(lane.pipeline, position.cluster_id, state)
    kept = {
        at: each for at, each in there.items() if at in stays or _keeps(after.get(at), each, state)
    }
    known = known_fingerprints(lane, position.newest, kept)
    changes = [*compare_held(kept, state), *compare_logs(resources, lane, kept, known, state)]
    found = {each.partition for each in changes if isinstance(each, Contradiction)}
    same = _same_below(resources, lane, {at: after[at] for at in found - stays.keys()}, state)
    require_no_contradiction(
        lane.pipeline,
        [e for e in changes if isinstance(e, Contradiction) and e.partition not in same],
    )


def _keeps(moved: PlannedRange | None, held: PlannedRange, state: KafkaState) -> bool:
    """Whether a cursor moves within its topic, to where Kafka holds records below it."""
    log = state.logs.get(held.offsets.partition)
    return (
        moved is not None
        and log is not None
        and moved.topic_id == held.topic_id
        and moved.offsets.start > log.log_start_offset
    )


def _same_below(
    resources: PipelineResources, lane: LaneState, moved: Cursor, state: KafkaState
) -> set[TopicPartition]:
    """Those partitions of which a batch that ends there or behind shows that the log is the same.

    If the record before one end is, all before it are.
    """
    lowest: dict[TopicPartition, tuple[int, str]] = {}
    for (offsets, topic_id), word in lane.data.log.fingerprinted_ends() if moved else ():
        at, end = offsets.partition, offsets.end
        wanted = moved.get(at)
        if wanted is None or wanted.topic_id != topic_id or end < wanted.offsets.start:
            continue
        if end <= state.logs[at].end_offset and end < lowest.get(at, (end + 1, ""))[0]:
            lowest[at] = end, word
    ends = {at: end for at, (end, _) in lowest.items()}
    found = resources.kafka.fingerprints(ends) if ends else {}
    return {at for at, (_, word) in lowest.items() if found.get(at) == word}
