"""Held position: where a pipeline is before a reset, by its commits and by its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from sluice.errors import SettingsError
from sluice.offsets.batches import Batch, BatchSequence, Cursor, Lane, PlannedRange
from sluice.offsets.history import LaneHistory
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.resets import LANES, Reset
from sluice.positions.position import cursor_at
from sluice.progress.committed import landed_batches
from sluice.progress.held_batches import claimed_ends, held_ends
from sluice.progress.lane_state import LaneState
from sluice.progress.sequence_end import SequenceEnd
from sluice.progress.unaltered import require_no_foreign_commits
from sluice.tables.foreign_commits import LandedBatch, TableCommit, undone_by_restore


@dataclass(frozen=True)
class HeldPosition:
    """A pipeline before a reset; every range is empty, at the offset in question.

    `cursor` is where the next batch would start; `held` is where the table's rows end; `last` is,
    by lane, the number of the generation's last batch whose rows are there, and `lowered` the
    resets behind which some are gone; `newest` is the forward lane's last such batch of any
    generation. Only after a RESTORE, or where the table was put back, do they differ from what was
    committed.
    """

    cursor: Cursor
    held: Cursor
    last: Mapping[Lane, int]
    cluster_id: str
    newest: Batch | None = None
    lowered: tuple[Reset, ...] = ()


def held_position(lane: LaneState) -> HeldPosition:
    """Where a pipeline is, by each lane's last committed batch and what the data table holds.

    Raises SettingsError before its first plan, TableRefused if the table is no longer Sluice's.
    """
    claimed = claimed_ends(lane)
    committed = _by_lane(lane, {each.sequence: each.last for each in claimed})
    cursor = _cursor(lane.history, committed["forward"])
    if not cursor:
        raise SettingsError(
            f"{lane.pipeline}: nothing was planned yet, so there is nothing to reset."
            " Change `start` in the spec."
        )
    cluster = lane.history.cluster_id
    require_no_foreign_commits(lane)
    commits = lane.commits()
    if lane.trusted and all(each.restored is None for each in commits):
        return HeldPosition(cursor, cursor, committed, cluster, lane.newest)
    landed, there = _landed(lane, claimed, commits), held_ends(lane)
    undone = {str(each.batch) for each in undone_by_restore(landed, commits)}
    undone |= {str(e.batch) for e in landed if e.batch.number > there[e.batch.sequence]}
    if not undone:
        return HeldPosition(cursor, cursor, committed, cluster, _newest(landed))
    held = list(takewhile(lambda each: str(each.batch) not in undone, landed))
    lost = landed[len(held) :]
    last = {
        each.sequence: _last_batch(lost, each.sequence, min(each.last, there[each.sequence]))
        for each in claimed
    }
    told = any(last[each] for each in last if each.lane == "forward")
    return HeldPosition(
        cursor,
        {**cursor, **_moved_back(lane, cursor, landed, held, told)},
        _by_lane(lane, last),
        cluster,
        _newest(held),
        tuple(lane.resets.lowered(last)),
    )


def _landed(
    lane: LaneState, claimed: Sequence[SequenceEnd], commits: Sequence[TableCommit]
) -> list[LandedBatch]:
    """The batches that may be undone: in a trusted table none below all that was restored."""
    restored = [each.restored for each in commits if each.restored is not None]
    return landed_batches(lane, claimed, min(restored) if lane.trusted else -1)


def _moved_back(
    lane: LaneState,
    cursor: Cursor,
    landed: Sequence[LandedBatch],
    held: Sequence[LandedBatch],
    told: bool,
) -> Cursor:
    """Where rows end, `told` whether any batch counts; what backfills have lost moves no cursor."""
    if not _forward_batches(landed[len(held) :]):
        return {}
    if told and not _forward_batches(held):
        return _ends_by_rows(lane, cursor)
    return _row_ends(_forward_batches(landed), _forward_batches(held))


def _newest(landed: Sequence[LandedBatch]) -> Batch | None:
    return next((each.batch for each in reversed(_forward_batches(landed))), None)


def _by_lane(lane: LaneState, ends: Mapping[BatchSequence, int]) -> Mapping[Lane, int]:
    return {each: ends[replace(lane.sequence, lane=each)] for each in LANES}


def _last_batch(lost: Sequence[LandedBatch], sequence: BatchSequence, last: int) -> int:
    numbers = [each.batch.number for each in lost if each.batch.sequence == sequence]
    return min([last + 1, *numbers]) - 1


def _ends_by_rows(lane: LaneState, cursor: Cursor) -> Cursor:
    """Where rows end, for batches whose plans a recovery could not bring back.

    What has no rows is read from the beginning: nothing says more.
    """
    ends = lane.data.stored_rows().ends
    return {
        partition: cursor_at(planned, ends.get((partition, planned.topic_id), 0))
        for partition, planned in cursor.items()
    }


def _forward_batches(landed: Sequence[LandedBatch]) -> list[LandedBatch]:
    return [each for each in landed if each.batch.sequence.lane == "forward"]


def _cursor(history: LaneHistory, committed: int) -> Cursor:
    if committed or history.opening:
        return _at_ends(history.cursor_at(committed))
    return _at_starts(history.batches[0].by_partition) if history.batches else {}


def _at_starts(ranges: Cursor) -> Cursor:
    return {at: cursor_at(planned, planned.offsets.start) for at, planned in ranges.items()}


def _at_ends(ranges: Cursor) -> Cursor:
    return {at: cursor_at(planned, planned.offsets.end) for at, planned in ranges.items()}


def _row_ends(landed: Sequence[LandedBatch], held: Sequence[LandedBatch]) -> Cursor:
    """Where the held rows end; a partition added later is where its first range started."""
    cursor: dict[TopicPartition, PlannedRange] = {}
    for each in reversed(landed):
        cursor |= _at_starts(each.batch.by_partition)
    for each in held[-1:]:
        cursor |= _at_ends(each.batch.by_partition)
    return cursor
