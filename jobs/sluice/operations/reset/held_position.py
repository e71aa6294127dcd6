"""Held position: where a pipeline is before a reset, by its commits and by its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sluice.errors import SettingsError
from sluice.offsets.batches import Batch, BatchSequence, Cursor, Lane
from sluice.offsets.history import LaneHistory
from sluice.offsets.range_columns import LAST_OFFSET, OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.resets import LANES, Reset
from sluice.operations.reset.row_ends import row_ends
from sluice.positions.position import cursor_at
from sluice.progress.held_batches import claimed_ends, known_ends
from sluice.progress.lane_state import LaneState
from sluice.progress.standing import RecordedBatch, recorded_batches, standing_ends
from sluice.progress.unaltered import require_no_foreign_commits
from sluice.tables.fence import FENCE
from sluice.tables.foreign_commits import restores_of

Countable = Callable[[Batch], bool]
"""Whether a batch that stands in the table, and has no receipt, can get one."""


@dataclass(frozen=True)
class HeldPosition:
    """A pipeline before a reset; every range is empty, at the offset in question.

    `cursor` is where the next batch would start; `held` is where the table's rows end; `last` is,
    by lane, the number of the generation's last batch whose rows are there, and `moved` the
    resets behind which other batches are there than those that they counted; `newest` is the
    forward lane's last such batch of any generation. `reached` is where the highest rows are, if
    the table had to be asked. Only after a RESTORE, or where the table was put back, do they differ
    from what was committed.
    """

    pipeline: str
    cursor: Cursor
    held: Cursor
    last: Mapping[Lane, int]
    cluster_id: str
    newest: Batch | None = None
    moved: tuple[Reset, ...] = ()
    reached: Mapping[TopicPartition, int] = field(default_factory=dict)


def held_position(lane: LaneState, countable: Countable = lambda _: True) -> HeldPosition:
    """Where a pipeline is, by each lane's last committed batch and what the data table holds.

    Raises SettingsError before its first plan, TableRefused if the table is no longer Sluice's.
    """
    claimed = {each.sequence: each.last for each in claimed_ends(lane)}
    committed = _by_lane(lane, claimed)
    cursor = _cursor(lane.history, committed["forward"])
    if not cursor:
        raise SettingsError(
            f"{lane.pipeline}: nothing was planned yet, so there is nothing to reset."
            " Change `start` in the spec."
        )
    cluster = lane.history.cluster_id
    require_no_foreign_commits(lane)
    if is_as_committed(lane):
        return HeldPosition(lane.pipeline, cursor, cursor, committed, cluster, lane.newest)
    found = [_as_countable(each, countable) for each in recorded_batches(lane)]
    listed = _listed(lane, claimed, found)
    ends = standing_ends(listed, found)
    held = row_ends(cursor, found, ends)
    if listed != claimed:
        held = _not_above(held, lane)
    return HeldPosition(
        lane.pipeline,
        cursor,
        held,
        _by_lane(lane, ends),
        cluster,
        _newest(found, ends),
        tuple(lane.resets.closed_elsewhere(ends)),
        {} if lane.trusted else _highest_rows(lane, held),
    )


def is_as_committed(lane: LaneState) -> bool:
    """Whether the table is the known one, and nobody has ever restored it."""
    return lane.trusted and not restores_of(lane.data.commits())


def _as_countable(each: RecordedBatch, countable: Countable) -> RecordedBatch:
    """A batch that cannot be counted is read again."""
    if each.stands and not each.settled and not countable(each.batch):
        return replace(each, stands=False)
    return each


def _listed(
    lane: LaneState, claimed: Mapping[BatchSequence, int], found: Sequence[RecordedBatch]
) -> Mapping[BatchSequence, int]:
    """How far each sequence is committed: where a recovery brought back no plans, by the rows."""
    if lane.trusted:
        return claimed
    plans = {each.batch.sequence for each in found if each.batch.number == 1}
    lost = {each for each, last in claimed.items() if last and each not in plans}
    if not any(lane.data.committed(each) != FENCE for each in lost):
        return claimed
    named = known_ends(lane.pipeline, (), lane.data.stored_rows())
    return {
        each: min(last, max(lane.data.committed(each), named.get(each, 0)))
        if each in lost
        else last
        for each, last in claimed.items()
    }


def _not_above(held: Cursor, lane: LaneState) -> Cursor:
    """Not above the rows, where they are all that tells: from the beginning where there are none"""
    ends = lane.data.stored_rows().ends
    return {
        at: cursor_at(each, min(each.offsets.end, ends.get((at, each.topic_id), 0)))
        for at, each in held.items()
    }


def _highest_rows(lane: LaneState, held: Cursor) -> Mapping[TopicPartition, int]:
    """Where the rows at and above the held ones end: what others wrote there is replaced."""
    places = {each.place: (at, each.offsets.end) for at, each in held.items()}
    scope = OffsetScope.of_ranges(
        {place: [OffsetRange(at, end, LAST_OFFSET)] for place, (at, end) in places.items()}
    )
    ends = lane.data.ends_in(scope)
    return {places[place][0]: end for place, end in ends.items() if place in places}


def _newest(found: Sequence[RecordedBatch], ends: Mapping[BatchSequence, int]) -> Batch | None:
    there = [
        each.batch
        for each in found
        if each.forward and each.batch.number <= ends[each.batch.sequence]
    ]
    return max(there, key=lambda each: (each.sequence.generation, each.number), default=None)


def _by_lane(lane: LaneState, ends: Mapping[BatchSequence, int]) -> Mapping[Lane, int]:
    return {each: ends[replace(lane.sequence, lane=each)] for each in LANES}


def _cursor(history: LaneHistory, committed: int) -> Cursor:
    if committed or history.opening:
        return _at_ends(history.cursor_at(committed))
    return _at_starts(history.batches[0].by_partition) if history.batches else {}


def _at_starts(ranges: Cursor) -> Cursor:
    return {at: cursor_at(planned, planned.offsets.start) for at, planned in ranges.items()}


def _at_ends(ranges: Cursor) -> Cursor:
    return {at: cursor_at(planned, planned.offsets.end) for at, planned in ranges.items()}
