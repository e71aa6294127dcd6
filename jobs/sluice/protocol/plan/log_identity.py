"""Log identity: whether a log is the one that was read, by the record before the cursor.

A batch's commit keeps a fingerprint for every partition's cursor, idle ones included, so the newest
commit of any generation is enough. The offsets table needs no column for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sluice.broker.port import NamedTopics
from sluice.offsets.batches import Batch, Cursor
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import TopicPartition
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.fingerprints import (
    NO_BATCH,
    Fingerprints,
    compare_fingerprints,
    ends_held,
    unmoved,
)
from sluice.protocol.plan.log_changes import Contradiction
from sluice.tables.offsets_rows import read_losses


def known_fingerprints(lane: LaneState, newest: Batch | None, cursor: Cursor) -> Fingerprints:
    """The fingerprints before a cursor, where it stands at the end of the newest batch."""
    if newest is None:
        return {}
    stored = lane.data.log.fingerprints(newest, _landed(lane, newest))
    return {each: stored[each] for each in unmoved(newest.by_partition, cursor) if each in stored}


def _landed(lane: LaneState, batch: Batch) -> int | None:
    """The version in which a batch landed in this data table, if it has a receipt."""
    receipts = lane.snapshot.receipts_of(batch.sequence, batch.number, batch.number)
    here = lane.data.table_id
    return next((e.data_version for e in receipts if e.batch.data_table_id == here), None)


def find_changes(
    resources: PipelineResources, lane: LaneState, state: KafkaState
) -> list[Contradiction]:
    """Where the record before the forward lane's cursor is no longer the one that was read."""
    known = known_fingerprints(lane, lane.newest, lane.cursor)
    return compare_logs(resources, lane, lane.cursor, known, state)


def compare_logs(
    resources: PipelineResources,
    lane: LaneState,
    cursor: Cursor,
    known: Fingerprints,
    state: KafkaState,
) -> list[Contradiction]:
    """Where the record before a cursor is no longer the one with the known fingerprint.

    Or where there is a record although a receipt says that there is none. One fetch for each
    partition if one of the two is known.
    """
    held = ends_held(cursor, state)
    unknown = {each: cursor[each] for each in held if not known.get(each)}
    known = {**known, **dict.fromkeys(_told_absent(lane, unknown), NO_BATCH)}
    asked = {each: end for each, end in held.items() if known.get(each)}
    found = resources.kafka.fingerprints(asked) if asked else {}
    changed = list(compare_fingerprints(asked, known, found))
    compacting = resources.kafka.compacting({each.partition.topic for each in changed})
    return [each for each in changed if each.partition.topic not in compacting]


def _told_absent(lane: LaneState, cursor: Cursor) -> Iterator[TopicPartition]:
    """Where the log had nothing before a cursor when the newest batches were read.

    A log that has a record there has been cut and has grown again.
    """
    if not cursor or lane.newest is None:
        return
    cursor = unmoved(lane.newest.by_partition, cursor)
    for loss in read_losses(lane.snapshot.rows(lane.newest.sequence, ["loss"])):
        at = cursor.get(loss.offsets.partition)
        if at is None or at.place != loss.place or loss.cause.kind is not LossKind.ABSENT:
            continue
        if loss.offsets.start < at.offsets.end <= loss.offsets.end:
            yield loss.offsets.partition


def take_fingerprints(
    resources: PipelineResources, cursor: Cursor, state: KafkaState
) -> Fingerprints:
    """The fingerprint of the record before each end, where the log holds it.

    Unknown on a topic that compacts: the log cleaner rewrites its record batches.
    """
    held = ends_held(cursor, state)
    compacting = resources.kafka.compacting({each.topic for each in held})
    requested = {
        partition: end for partition, end in held.items() if partition.topic not in compacting
    }
    return resources.kafka.fingerprints(requested)


def with_former_topics(
    resources: PipelineResources, state: KafkaState, topics: Iterable[str]
) -> KafkaState:
    """What Kafka holds, of the topics among these as well that the spec no longer names."""
    former = sorted(each for each in topics if not resources.spec.selects(each))
    if not former:
        return state
    return replace(state, logs={**state.logs, **resources.kafka.state(NamedTopics(former)).logs})
