"""Targets of a reset: where the next generation starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

from sluice.pipeline.altered import landed_batches
from sluice.pipeline.parts import Parts
from sluice.planning.alterations import Landed, undone_by_restore
from sluice.planning.batches import PlannedRange
from sluice.planning.history import History
from sluice.planning.ranges import OffsetRange, TopicPartition
from sluice.planning.resets import Reset
from sluice.tables.offsets_table import OffsetsSnapshot

Cursor = Mapping[TopicPartition, PlannedRange]


@dataclass(frozen=True)
class Standing:
    """A pipeline as it stands before a reset.

    `cursor` is where the next batch would start; `held` is where the table's rows end, and
    `last` numbers the last forward batch of the generation whose rows are there. They differ from
    what was committed only after a RESTORE.
    """

    parts: Parts
    cursor: Cursor
    held: Cursor
    last: int


Target = Callable[[Standing], Cursor]


def to_earliest(standing: Standing) -> Cursor:
    """Everything that Kafka still holds, once more. A topic that is gone keeps its place."""
    state = standing.parts.kafka.state(standing.parts.spec)
    starts = {
        each: PlannedRange(
            OffsetRange(each, log.log_start_offset, log.log_start_offset),
            log.topic_id,
            log.log_start_offset,
            log.last_stable_offset,
            log.leader_epoch,
        )
        for each, log in state.logs.items()
    }
    return {**standing.held, **starts}


def to_table(standing: Standing) -> Cursor:
    """After a RESTORE: where the rows end that the data table still holds."""
    return standing.held


def as_intended(reset: Reset) -> Target:
    """The same cursor as that of a reset which was interrupted."""
    return lambda standing: reset.by_partition


def standing(parts: Parts, snapshot: OffsetsSnapshot, history: History, committed: int) -> Standing:
    """Where a pipeline stands, by its last committed batch and the data table's log.

    Raises TableRefused when the table is not ours any more.
    """
    cursor = history.cursor_at(committed)
    commits = parts.data.require_ours(parts.spec.pipeline)
    if all(each.restored is None for each in commits):
        return Standing(parts, cursor, cursor, committed)
    landed = list(_all_landed(parts, snapshot, history, committed))
    undone = {each.version for each in undone_by_restore(landed, commits)}
    held = list(takewhile(lambda each: each.version not in undone, landed))
    mine = [each.batch.number for each in held if each.batch.sequence == history.sequence]
    return Standing(parts, cursor, {**cursor, **_ends(landed, held)}, max(mine, default=0))


def _ends(landed: list[Landed], held: list[Landed]) -> Cursor:
    """Where the rows end that are held; partitions that came later start where they first did."""
    cursor = {
        partition: _at(planned, planned.offsets.start)
        for each in reversed(landed)
        for partition, planned in each.batch.by_partition.items()
    }
    for each in held[-1:]:
        ends = each.batch.by_partition.items()
        cursor |= {partition: _at(planned, planned.offsets.end) for partition, planned in ends}
    return cursor


def _all_landed(
    parts: Parts, snapshot: OffsetsSnapshot, history: History, committed: int
) -> Iterator[Landed]:
    """The committed forward batches of every generation, in the order they were committed in."""
    resets = snapshot.resets(parts.spec.pipeline)
    for generation in range(1, history.sequence.generation):
        sequence = replace(history.sequence, generation=generation)
        last, closed = resets.closed_at(sequence), snapshot.history(sequence, resets)
        for each in landed_batches(parts, snapshot, closed, min(last, closed.settled)):
            if each.batch.number <= last:
                yield each
    yield from landed_batches(parts, snapshot, history, committed)


def _at(planned: PlannedRange, offset: int) -> PlannedRange:
    return replace(planned, offsets=OffsetRange(planned.offsets.partition, offset, offset))
