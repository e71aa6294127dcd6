"""Readable ranges: which requested offsets below the cursor can be reread. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sluice.offsets.batches import Batch, Cursor, PlannedRange
from sluice.offsets.history import LaneHistory
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.plan import LeftOut, Plan
from sluice.offsets.ranges import OffsetRange, TopicPartition, merged, without
from sluice.protocol.plan.cutting import cut_apart
from sluice.protocol.plan.log_changes import (
    Finding,
    compare_held,
    require_no_contradiction,
    require_same_cluster,
)
from sluice.spec.pipeline_spec import PipelineSpec

_GONE = "Kafka no longer holds it; the rows that are there stay"
_AHEAD = "it is above the cursor: the forward lane brings it"


@dataclass(frozen=True)
class RequestedRange:
    """Offsets that a backfill is to reread; with the topic id, if they were read before.

    With `excluded_because`, offsets among them that are not to be read.
    """

    offsets: OffsetRange
    topic_id: str | None = None
    excluded_because: str = ""


@dataclass(frozen=True)
class ClippedRanges:
    """The requested offsets that can be reread, and those that cannot."""

    ranges: tuple[OffsetRange, ...]
    left_out: tuple[LeftOut, ...] = ()


def require_read_logs(
    forward: LaneHistory, cursor: Cursor, state: KafkaState, changes: Sequence[Finding]
) -> None:
    """Raises ResetNeeded unless these are the logs that were read up to the cursor.

    Records that Kafka has deleted are no error: they are left out.
    """
    require_same_cluster(forward.sequence.pipeline, forward.cluster_id, state)
    require_no_contradiction(forward.sequence.pipeline, [*compare_held(cursor, state), *changes])


def clip_to_held(
    requested: Iterable[RequestedRange], cursor: Cursor, state: KafkaState
) -> ClippedRanges:
    """Clip the requested ranges to what lies between log start and cursor."""
    ranges: list[OffsetRange] = []
    left_out: list[LeftOut] = []
    for each in requested:
        if each.excluded_because:
            left_out.append(LeftOut(each.offsets, each.excluded_because))
            continue
        offsets = each.offsets
        start, end = _first_held_offset(each, state), _cursor_offset(offsets.partition, cursor)
        gone, rest = _split(offsets, start)
        again, ahead = _split(rest, end)
        ranges.append(again)
        left_out += [LeftOut(gone, _GONE), LeftOut(ahead, _AHEAD)]
    return ClippedRanges(
        tuple(merged(ranges)), tuple(each for each in left_out if each.offsets.span)
    )


def _first_held_offset(requested: RequestedRange, state: KafkaState) -> int:
    """The first requested offset that Kafka holds; the range's end if it holds none."""
    log = state.logs.get(requested.offsets.partition)
    if log is None or requested.topic_id not in (None, log.topic_id):
        return requested.offsets.end
    return log.log_start_offset


def _cursor_offset(partition: TopicPartition, cursor: Cursor) -> int:
    return cursor[partition].offsets.end if partition in cursor else 0


def _split(whole: OffsetRange, at: int) -> tuple[OffsetRange, OffsetRange]:
    below = whole.first(max(0, at - whole.start))
    return below, whole.after(below)


def plan_reread(
    spec: PipelineSpec,
    lane: LaneHistory,
    unfinished: Sequence[Batch],
    found: ClippedRanges,
    state: KafkaState,
) -> Plan:
    """Backfill batches for the clipped ranges, without what unfinished batches already cover."""
    ahead = [planned.offsets for batch in unfinished for planned in batch.ranges]
    pieces = cut_apart(without(found.ranges, ahead), spec.max_records_per_batch)
    return Plan(
        tuple(
            Batch(
                sequence=lane.sequence,
                number=number,
                mode="replace",
                cluster_id=state.cluster_id,
                ranges=tuple(PlannedRange.of(each, state.logs[each.partition]) for each in piece),
            )
            for number, piece in enumerate(pieces, start=lane.planned + 1)
        ),
        left_out=found.left_out,
    )
