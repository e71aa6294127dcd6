"""Identity: which of Kafka's logs are those that the tables were read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sluice.moves import Advice
from sluice.offsets.batches import Cursor
from sluice.offsets.partition_log import KafkaState, PartitionLog
from sluice.offsets.ranges import TopicIdPartition, TopicPartition
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.log_changes import (
    Contradiction,
    compare_held,
    next_moves,
    require_same_cluster,
)
from sluice.protocol.plan.log_identity import compare_logs, find_changes


class Why(StrEnum):
    """Why rows are not compared with Kafka."""

    NO_TOPIC = "Kafka no longer has this topic"
    ANOTHER_TOPIC = "Kafka has another topic of this name"
    NOT_NAMED = "the spec no longer names this topic"
    ANOTHER_LOG = "Kafka has another log than the one that was read"
    NOT_READ_AGAIN = "since a reset Kafka's log is another one, which is not read so far yet"


@dataclass(frozen=True)
class Comparable:
    """What of a partition can be compared: its log, below an offset; or why nothing can."""

    log: PartitionLog | None
    below: int | None = None
    why: Why | None = None


@dataclass(frozen=True)
class Identity:
    """How Kafka's logs differ from those that were read.

    `changed` are the logs that no run goes on with. `again` says where a log begins that a reset
    goes on with, and that is another one than the rows above were read from.
    """

    state: KafkaState
    not_named: frozenset[str] = frozenset()
    changed: Mapping[TopicPartition, Contradiction] = field(default_factory=dict)
    again: Mapping[TopicPartition, int] = field(default_factory=dict)

    def of(self, place: TopicIdPartition, partition: TopicPartition) -> Comparable:
        """What of a partition can be compared."""
        log = self.state.logs.get(partition)
        if log is None:
            unnamed = partition.topic in self.not_named
            return Comparable(None, why=Why.NOT_NAMED if unnamed else Why.NO_TOPIC)
        if log.topic_id != place.topic_id:
            return Comparable(None, why=Why.ANOTHER_TOPIC)
        if partition in self.changed:
            return Comparable(None, why=Why.ANOTHER_LOG)
        return Comparable(log, self.again.get(partition))

    def advice(self, pipeline: str) -> list[Advice]:
        """What to do about the logs that have changed."""
        return next_moves(pipeline, list(self.changed.values()))


def read_identity(resources: PipelineResources, lane: LaneState, state: KafkaState) -> Identity:
    """Compare the logs as a plan does. Raises ResetNeeded where the whole cluster is another."""
    cursor = lane.cursor
    if not cursor:
        return Identity(state)
    require_same_cluster(lane.pipeline, lane.history.cluster_id, state)
    topics = {each.topic for each in lane.snapshot.columns.places("planned").values()}
    return Identity(
        state,
        frozenset(each for each in topics if not resources.spec.selects(each)),
        _by_partition(cursor, state, find_changes(resources, lane, state)),
        _read_before_a_reset(resources, lane, state),
    )


def _read_before_a_reset(
    resources: PipelineResources, lane: LaneState, state: KafkaState
) -> Mapping[TopicPartition, int]:
    """Where a reset went back on a log that is another one than what lies above was read from."""
    newest, cursor = lane.reach.newest, lane.cursor
    if newest is None:
        return {}
    above = {
        each: last
        for each, last in newest.by_partition.items()
        if each not in cursor or cursor[each].offsets.end < last.offsets.end
    }
    known = lane.data.log.fingerprints(newest)
    changed = _by_partition(above, state, compare_logs(resources, lane, above, known, state))
    return {each: cursor[each].offsets.end if each in cursor else 0 for each in changed}


def _by_partition(
    cursor: Cursor, state: KafkaState, changes: list[Contradiction]
) -> Mapping[TopicPartition, Contradiction]:
    """The logs that differ, except those of other topics: there is no log to compare."""
    same = {
        each: last
        for each, last in cursor.items()
        if (log := state.logs.get(each)) is not None and log.topic_id == last.topic_id
    }
    held = (each for each in compare_held(same, state) if isinstance(each, Contradiction))
    return {each.partition: each for each in (*changes, *held)}
