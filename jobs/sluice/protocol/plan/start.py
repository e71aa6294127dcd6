"""The start position: where to look it up, and whether it still has an effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sluice.errors import ResetNeeded, SettingsError
from sluice.offsets.batches import BatchSequence, of_topics_there
from sluice.offsets.partition_log import KafkaState, Logs
from sluice.offsets.ranges import TopicPartition
from sluice.positions.checkpoint import read_checkpoint
from sluice.positions.delta_ingest import last_written
from sluice.positions.policies import Earliest
from sluice.positions.stored_start import format_start, parse_start
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.log_changes import require_same_cluster, require_topics
from sluice.tables.commits import transaction_versions
from sluice.tables.offsets_snapshot import OffsetsSnapshot
from sluice.tables.storage import Folder


@dataclass(frozen=True)
class PositionAnswers:
    """Answers a position's questions, from Kafka or from another system's progress."""

    resources: PipelineResources

    def logs(self, cluster_id: str) -> Logs:
        """What Kafka holds now. Raises ResetNeeded if this is a different cluster."""
        state = self.resources.kafka.state(self.resources.spec)
        require_same_cluster(self.resources.spec.pipeline, cluster_id, state)
        return state.logs

    def new_cluster(self, before: str) -> tuple[str, Logs]:
        """The cluster's id, and what it holds. Raises SettingsError if it is the one before."""
        state = self.resources.kafka.state(self.resources.spec)
        if state.cluster_id == before:
            raise SettingsError(
                f"cluster: expected another one than {before}, which was read before, found the"
                " same. Leave `--new-cluster` out, or correct the connection."
            )
        require_topics(self.resources.spec, (), state)
        return state.cluster_id, state.logs

    def offsets_for_time(
        self, partitions: list[TopicPartition], moment: datetime
    ) -> Mapping[TopicPartition, int | None]:
        """The first offset at or after a moment; None if every record is older."""
        return self.resources.kafka.offsets_for_time(partitions, moment)

    def group_offsets(
        self, group: str, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, int | None]:
        """The committed offsets of a consumer group; None where there is none."""
        return self.resources.kafka.group_offsets(group, partitions)

    def checkpoint_ends(self, folder: str) -> Mapping[TopicPartition, int]:
        """Where the last committed batch of a Structured Streaming query ended."""
        return read_checkpoint(Folder(folder))

    def last_written(self, table: str, app_id: str | None) -> Mapping[int, int]:
        """The last offset that kafka-delta-ingest wrote, by partition."""
        return last_written(table, transaction_versions(table), app_id)


def next_positions(
    resources: PipelineResources, lane: LaneState, state: KafkaState
) -> Mapping[TopicPartition, int]:
    """Where the next forward batch begins: at the cursor, or where the first one was planned.

    A partition that is newer than that begins where its log does, and so does one of a topic that
    was created anew: none of its records is read. Before the first plan, where `start` leads now;
    nowhere if it leads nowhere.
    """
    if not lane.history:
        try:
            return start_now(resources, state)
        except (ResetNeeded, SettingsError):
            return {}
    known = of_topics_there(lane.cursor, state.logs)
    if known or not lane.unfinished:
        begins = {at: each.offsets.end for at, each in known.items()}
    else:
        known = lane.unfinished[0].by_partition
        begins = {at: each.offsets.start for at, each in known.items()}
    anew = {
        at for at, log in state.logs.items() if at in known and known[at].topic_id != log.topic_id
    }
    starts = {at: log.log_start_offset for at, log in state.logs.items()}
    return starts | {at: offset for at, offset in begins.items() if at not in anew}


def start_now(resources: PipelineResources, state: KafkaState) -> Mapping[TopicPartition, int]:
    """Where the spec's `start` leads now. Raises ResetNeeded or SettingsError if nowhere."""
    return resources.spec.start.position.first_offsets(state.logs, PositionAnswers(resources))


def passed_over_by_start(resources: PipelineResources) -> str | None:
    """A note if a pipeline that begins now leaves out some of what Kafka holds, else None."""
    start = resources.spec.start.position
    if start == Earliest():
        return None
    return (
        f"`{format_start(start)}`: records that Kafka holds before it are passed over; to read"
        " them, set `start: earliest` in the spec before the next run"
    )


def start_without_effect(resources: PipelineResources, snapshot: OffsetsSnapshot) -> str | None:
    """A note if the spec's `start` is not the one that the pipeline began with, else None."""
    first = BatchSequence(resources.spec.pipeline, "forward", 1)
    rows = snapshot.rows(first, ["planned"], 1, 1)
    stored = next((row["reason"] for row in rows if row["reason"]), None)
    current = resources.spec.start.position
    if stored in (None, format_start(current)) or parse_start(stored) == current:
        return None
    return (
        f"`{format_start(current)}` has no effect any more: the pipeline began with `{stored}`;"
        " `sluice reset` moves the cursor"
    )
