"""Readable ranges: which requested offsets below the cursor can be reread. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sluice.offsets.batches import Batch, Cursor, PlannedRange, of_topics_there
from sluice.offsets.history import LaneHistory
from sluice.offsets.offset_runs import NO_RUNS, OffsetRuns
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.plan import LeftOut, Plan, ReadBeside
from sluice.offsets.ranges import OffsetRange, TopicPartition, merged, within, without
from sluice.protocol.plan.cutting import cut_apart
from sluice.protocol.plan.log_changes import (
    Finding,
    compare_held,
    require_no_contradiction,
    require_same_cluster,
)
from sluice.spec_file.pipeline_spec import PipelineSpec

_GONE = "Kafka no longer holds it; the rows that are there stay"
_NOT_NAMED = "the spec does not name its topic; the rows that are there stay"
_AHEAD = "it is above the cursor: the forward lane brings it"


@dataclass(frozen=True)
class RequestedRange:
    """Offsets that a backfill is to reread; with the topic id, if they were read before.

    `excluded_because` says why they are not to be read. `beside` are records among them that were
    not asked about, because they lie between those. `only` are the offsets among them that are
    meant; the others stay as they are.
    """

    offsets: OffsetRange
    topic_id: str | None = None
    excluded_because: str = ""
    beside: OffsetRuns = NO_RUNS
    only: tuple[OffsetRange, ...] | None = None


@dataclass(frozen=True)
class ClippedRanges:
    """The requested offsets that can be reread, and those that cannot.

    `only` are those of the ranges that may change; None for all.
    """

    ranges: tuple[OffsetRange, ...]
    left_out: tuple[LeftOut, ...] = ()
    beside: tuple[ReadBeside, ...] = ()
    only: tuple[OffsetRange, ...] | None = None


def require_read_logs(
    forward: LaneHistory, cursor: Cursor, state: KafkaState, changes: Sequence[Finding]
) -> None:
    """Raises ResetNeeded unless these are the logs that were read up to the cursor.

    Records that Kafka has deleted are not an error: they are left out.
    """
    require_same_cluster(forward.sequence.pipeline, forward.cluster_id, state)
    held = compare_held(of_topics_there(cursor, state.logs), state)
    require_no_contradiction(forward.sequence.pipeline, [*held, *changes])


def clip_to_held(
    requested: Iterable[RequestedRange],
    cursor: Cursor,
    state: KafkaState,
    names: Callable[[str], bool] = lambda _: True,
) -> ClippedRanges:
    """Clip the requested ranges to what lies between log start and cursor.

    Only offsets that were meant are named among those left out. `names` says which topics the spec
    names: of others, what Kafka holds was not asked.
    """
    asked = list(requested)
    only: list[OffsetRange] = []
    ranges: list[OffsetRange] = []
    left_out: list[LeftOut] = []
    beside: list[ReadBeside] = []
    cursor = of_topics_there(cursor, state.logs)
    for each in asked:
        if each.excluded_because:
            left_out.append(LeftOut(each.offsets, each.excluded_because))
            continue
        if not names(each.offsets.partition.topic):
            left_out += [LeftOut(meant, _NOT_NAMED) for meant in _meant(each, each.offsets)]
            continue
        offsets = each.offsets
        start, end = _first_held_offset(each, state), _cursor_offset(offsets.partition, cursor)
        gone, rest = _split(offsets, start)
        again, ahead = _split(rest, end)
        ranges.append(again)
        only += _meant(each, again)
        beside.append(ReadBeside(again, (each.beside & OffsetRuns.of_range(again)).span))
        left_out += [LeftOut(meant, _GONE) for meant in _meant(each, gone)]
        left_out += [LeftOut(meant, _AHEAD) for meant in _meant(each, ahead)]
    return ClippedRanges(
        tuple(merged(ranges)),
        tuple(each for each in left_out if each.offsets.span),
        tuple(each for each in beside if each.records),
        tuple(merged(only)) if any(each.only is not None for each in asked) else None,
    )


def _meant(requested: RequestedRange, offsets: OffsetRange) -> list[OffsetRange]:
    """Which of these offsets are meant by a request."""
    return [offsets] if requested.only is None else within(requested.only, [offsets])


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
    ahead = [
        offsets
        for batch in unfinished
        for offsets in batch.only or [planned.offsets for planned in batch.ranges]
    ]
    pieces = cut_apart(without(found.ranges, ahead), spec.max_records_per_batch)
    if found.only is not None:
        pieces = [part for part in (_trimmed(each, found.only) for each in pieces) if part]
    return Plan(
        tuple(
            Batch(
                sequence=lane.sequence,
                number=number,
                mode="replace",
                cluster_id=state.cluster_id,
                ranges=tuple(PlannedRange.of(each, state.logs[each.partition]) for each in piece),
                only=_part_of(piece, found.only),
            )
            for number, piece in enumerate(pieces, start=lane.planned + 1)
        ),
        left_out=found.left_out,
        beside=found.beside,
    )


def _trimmed(piece: Iterable[OffsetRange], only: Sequence[OffsetRange]) -> tuple[OffsetRange, ...]:
    """The ranges of a batch from the first to the last offset that may change."""
    found = []
    for each in piece:
        meant = within([each], only)
        if meant:
            found.append(OffsetRange(each.partition, meant[0].start, meant[-1].end))
    return tuple(found)


def _part_of(
    piece: Iterable[OffsetRange], only: Sequence[OffsetRange] | None
) -> tuple[OffsetRange, ...] | None:
    """Which of a batch's offsets may change; None for all."""
    if only is None:
        return None
    meant = within(piece, only)
    return None if meant == merged(piece) else tuple(meant)
