"""Planning: which batches come next. Pure: everything it needs was gathered before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sluice.broker.kafka_state import KafkaState
from sluice.planning.batches import Batch, Mode, PlannedRange
from sluice.planning.cutting import cut
from sluice.planning.findings import (
    Finding,
    Loss,
    compare,
    compare_cluster,
    compare_newcomer,
    compare_topics,
    losses,
)
from sluice.planning.history import History
from sluice.planning.ranges import OffsetRange, TopicPartition
from sluice.spec import PipelineSpec


@dataclass(frozen=True)
class Plan:
    """New batches, in order, and the losses found on the way; both are written in one commit."""

    batches: tuple[Batch, ...]
    losses: tuple[Loss, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.batches)


Target = Mapping[TopicPartition, OffsetRange]


def plan_first(
    spec: PipelineSpec,
    history: History,
    state: KafkaState,
    starts: Mapping[TopicPartition, int],
) -> Plan:
    """Plan a pipeline without history from its resolved start positions.

    There is always a batch, if need be an empty one: it makes the start of every partition durable.
    Raises SettingsError when a topic does not exist.
    """
    compare_topics(spec, (), state)
    target = _target(starts, state)
    pieces = _pieces(spec, target) or [_nothing(target)]
    return Plan(_batches(pieces, history, state))


def plan_next(spec: PipelineSpec, history: History, state: KafkaState) -> Plan:
    """Plan what came since the last batch, up to the LSO. A new partition starts at its beginning.

    Raises ResetNeeded or DataLost, one line per partition, when the log does not go on from there.
    """
    compare_cluster(history.cluster_id, state)
    compare_topics(spec, (each.topic for each in history.cursor), state)
    lost = losses(list(_findings(spec, history, state)), spec.on_data_loss == "record")
    starts = {each: log.log_start_offset for each, log in state.logs.items()}
    starts |= {each: last.offsets.end for each, last in history.cursor.items()}
    starts |= {loss.offsets.partition: loss.offsets.end for loss in lost}
    target = _target(starts, state)
    pieces = _pieces(spec, target)
    if lost and not pieces:
        pieces = [_nothing(target)]
    return Plan(_batches(pieces, history, state), lost)


def _findings(spec: PipelineSpec, history: History, state: KafkaState) -> Iterable[Finding]:
    known_topics = {each.topic for each in history.cursor}
    for partition in sorted(history.cursor.keys() | state.logs.keys()):
        last, log = history.cursor.get(partition), state.logs.get(partition)
        finding = None
        if last is not None and spec.selects(partition.topic):
            finding = compare(last, log)
        elif last is None and log is not None and partition.topic in known_topics:
            finding = compare_newcomer(partition, log)
        if finding is not None:
            yield finding


def _target(starts: Mapping[TopicPartition, int], state: KafkaState) -> Target:
    # A topic that the spec no longer names has no log here; it keeps its place.
    ends = {each: log.last_stable_offset for each, log in state.logs.items()}
    return {
        partition: OffsetRange(partition, start, max(start, ends.get(partition, start)))
        for partition, start in sorted(starts.items())
    }


def _pieces(spec: PipelineSpec, target: Target) -> list[tuple[OffsetRange, ...]]:
    return cut(list(target.values()), spec.max_records_per_batch, spec.max_batches_per_run)


def _nothing(target: Target) -> tuple[OffsetRange, ...]:
    return tuple(each.first(0) for each in target.values())


def _batches(
    pieces: Iterable[tuple[OffsetRange, ...]], history: History, state: KafkaState
) -> tuple[Batch, ...]:
    planned = [tuple(_planned(each, history, state) for each in piece) for piece in pieces]
    return tuple(
        Batch(
            sequence=history.sequence,
            number=number,
            mode=_mode(ranges, history),
            cluster_id=state.cluster_id,
            ranges=ranges,
        )
        for number, ranges in enumerate(planned, start=history.planned + 1)
    )


def _mode(ranges: Iterable[PlannedRange], history: History) -> Mode:
    """A blind append, unless some of the offsets were committed before a reset."""
    again = any(
        each.offsets.span
        and each.offsets.start < history.reached.get((each.topic_id, each.offsets.partition), 0)
        for each in ranges
    )
    return "replace" if again else "append"


def _planned(offsets: OffsetRange, history: History, state: KafkaState) -> PlannedRange:
    last, log = history.cursor.get(offsets.partition), state.logs.get(offsets.partition)
    if log is None:
        return replace(history.cursor[offsets.partition], offsets=offsets)
    epoch = log.leader_epoch
    if epoch is None and last is not None:
        epoch = last.leader_epoch
    return PlannedRange(offsets, log.topic_id, log.log_start_offset, log.last_stable_offset, epoch)
