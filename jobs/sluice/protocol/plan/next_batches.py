"""The next batches: which ranges a run reads. Pure: everything it needs is passed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sluice.offsets.batches import (
    Batch,
    Mode,
    PlannedRange,
    missed_places,
    of_topics_there,
)
from sluice.offsets.history import LaneHistory
from sluice.offsets.losses import Loss, Skipped
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.plan import Plan
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.reach import NO_REACH, Reach
from sluice.positions.stored_start import format_start
from sluice.protocol.plan.cutting import cut, cut_around
from sluice.protocol.plan.log_changes import (
    Finding,
    compare_last,
    compare_new_partition,
    compare_start,
    losses,
    require_same_cluster,
    require_topics,
)
from sluice.spec_file.pipeline_spec import PipelineSpec

TargetRanges = Mapping[TopicPartition, OffsetRange]


def plan_first(
    spec: PipelineSpec,
    history: LaneHistory,
    state: KafkaState,
    starts: Mapping[TopicPartition, int],
) -> Plan:
    """Plan a pipeline without history from its resolved start positions.

    There is always a batch, even an empty one: it makes the start of every partition durable.
    Raises SettingsError if a topic does not exist, DataLost if a start is below the log start.
    """
    require_topics(spec, (), state)
    gone = [compare_start(each, start, state.logs[each]) for each, start in starts.items()]
    lost = losses(spec.pipeline, gone, spec.data_loss)
    target = _target_ranges({**starts, **_loss_ends(lost)}, state)
    pieces = _pieces(spec, target) or [_empty_batch(target)]
    return Plan(_batches(pieces, history, state), lost, format_start(spec.start.position))


def plan_next(
    spec: PipelineSpec,
    history: LaneHistory,
    state: KafkaState,
    skips: Sequence[Skipped] = (),
    changes: Sequence[Finding] = (),
    reach: Reach = NO_REACH,
) -> Plan:
    """Plan what came since the last batch, up to the LSO. A new partition starts at its beginning.

    With skips, the plan goes around those offsets, at least up to them, and records them as losses.
    What earlier generations reached is replaced. Raises ResetNeeded or DataLost, one line per
    finding, if the log does not continue there; `changes` are findings that its state hides.
    """
    require_same_cluster(spec.pipeline, history.cluster_id, state)
    require_topics(spec, (each.topic for each in history.cursor), state)
    findings = [*_findings(spec, history, state), *changes]
    lost = losses(spec.pipeline, findings, spec.data_loss)
    starts = {each: log.log_start_offset for each, log in state.logs.items()}
    cursor = of_topics_there(history.cursor, state.logs)
    starts |= {each: last.offsets.end for each, last in cursor.items()}
    # What is lost of a topic created anew says nothing about the new one.
    starts |= _loss_ends(each for each in lost if _is_of_log(each, state))
    target = _target_ranges(starts, state)
    if skips:
        holes = [each.offsets for each in skips]
        pieces = cut_around(list(target.values()), holes, spec.max_records_per_batch)
    else:
        pieces = _pieces(spec, target)
    if lost and not pieces:
        pieces = [_empty_batch(target)]
    return Plan(_batches(pieces, history, state, reach), (*lost, *skips))


def _findings(spec: PipelineSpec, history: LaneHistory, state: KafkaState) -> Iterable[Finding]:
    cursor = of_topics_there(history.cursor, state.logs)
    missed = missed_places(cursor, state.logs)
    known_topics = {each.topic for each in cursor}
    for partition in sorted(cursor.keys() | state.logs.keys()):
        last, log = cursor.get(partition), state.logs.get(partition)
        finding = None
        if last is not None and log is None and partition not in missed:
            continue
        if last is not None and spec.selects(partition.topic):
            finding = compare_last(last, log)
        elif last is None and log is not None and partition.topic in known_topics:
            finding = compare_new_partition(partition, log)
        if finding is not None:
            yield finding


def _is_of_log(loss: Loss, state: KafkaState) -> bool:
    log = state.logs.get(loss.offsets.partition)
    return log is not None and log.topic_id == loss.topic_id


def _loss_ends(lost: Iterable[Loss]) -> dict[TopicPartition, int]:
    return {loss.offsets.partition: loss.offsets.end for loss in lost}


def _target_ranges(starts: Mapping[TopicPartition, int], state: KafkaState) -> TargetRanges:
    # A topic that the spec no longer names has no log here; it keeps its cursor.
    ends = {each: log.last_stable_offset for each, log in state.logs.items()}
    return {
        partition: OffsetRange(partition, start, max(start, ends.get(partition, start)))
        for partition, start in sorted(starts.items())
    }


def _pieces(spec: PipelineSpec, target: TargetRanges) -> list[tuple[OffsetRange, ...]]:
    return cut(list(target.values()), spec.max_records_per_batch, spec.max_batches_per_run)


def _empty_batch(target: TargetRanges) -> tuple[OffsetRange, ...]:
    return tuple(each.first(0) for each in target.values())


def _batches(
    pieces: Iterable[tuple[OffsetRange, ...]],
    history: LaneHistory,
    state: KafkaState,
    reach: Reach = NO_REACH,
) -> tuple[Batch, ...]:
    planned = [tuple(_planned_range(each, history, state) for each in piece) for piece in pieces]
    return tuple(
        Batch(
            sequence=history.sequence,
            number=number,
            mode=_mode(ranges, reach),
            cluster_id=state.cluster_id,
            ranges=ranges,
            complete_until=_complete_until(ranges, history, state),
        )
        for number, ranges in enumerate(planned, start=history.planned + 1)
    )


def _complete_until(
    ranges: Iterable[PlannedRange], history: LaneHistory, state: KafkaState
) -> datetime | None:
    """The moment before the LSOs were asked for, if the batch reaches them; else as before."""
    ends = {each.offsets.partition: each.offsets.end for each in ranges}
    return state.asked if state.is_read(ends) else history.complete_until


def _mode(ranges: Iterable[PlannedRange], reach: Reach) -> Mode:
    """A blind append, unless some of the offsets were committed before a reset."""
    return "replace" if any(map(reach.covers, ranges)) else "append"


def _planned_range(offsets: OffsetRange, history: LaneHistory, state: KafkaState) -> PlannedRange:
    last, log = history.cursor.get(offsets.partition), state.logs.get(offsets.partition)
    if log is None:
        return replace(history.cursor[offsets.partition], offsets=offsets)
    planned = PlannedRange.of(offsets, log)
    if planned.leader_epoch is None and last is not None and last.topic_id == log.topic_id:
        planned = replace(planned, leader_epoch=last.leader_epoch)
    return planned
