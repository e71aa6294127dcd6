"""Standing: where a pipeline stands before a reset, by its commits and by its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from sluice.errors import SettingsError
from sluice.offsets.batches import Batch, Cursor, Lane
from sluice.offsets.history import LaneHistory
from sluice.offsets.range_columns import LAST_OFFSET, OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import LANES, Reset
from sluice.operations.reset.closed_receipts import receipt_of
from sluice.operations.reset.row_ends import row_ends
from sluice.positions.position import cursor_at
from sluice.progress.held_batches import Ends, claimed_ends, known_ends
from sluice.progress.lane_state import LaneState, read_untrusted
from sluice.progress.recorded_batches import RecordedBatch, recorded_batches, standing_ends
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import require_no_foreign_commits
from sluice.tables.fence import FENCE, Fencing

Trust = Callable[[LaneState], None]
"""What must hold of the tables; raises TableRefused where it does not."""


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


@dataclass(frozen=True)
class Standing:
    """Both lanes at one version of each table, and what follows: found once, when it is needed.

    `receipt_of` is the one that a batch without receipt can get; None where it does not add up.
    """

    forward: LaneState
    backfill: LaneState
    receipt_of: Callable[[Batch], Receipt | None]

    @property
    def unfinished(self) -> tuple[Batch, ...]:
        """The batches that either lane has planned but not yet committed."""
        return (*self.forward.unfinished, *self.backfill.unfinished)

    @cached_property
    def fencing(self) -> Fencing:
        """The data table's version as the base for a fence. Raises SettingsError without one."""
        fencing = self.forward.data.fencing()
        if fencing is None:
            raise SettingsError(
                f"{self.forward.pipeline}: there is no data table yet, so there is nothing to"
                " reset. The first run creates it; until there is a plan, `start` in the spec"
                " decides."
            )
        return fencing

    @cached_property
    def claimed(self) -> Ends:
        """How far each sequence was committed, by what is recorded."""
        return claimed_ends(self.forward)

    @cached_property
    def cursor(self) -> Cursor:
        """Where the next batch would start. Raises SettingsError before the first plan."""
        found = _cursor(self.forward.history, self._last(self.claimed)["forward"])
        if not found:
            raise SettingsError(
                f"{self.forward.pipeline}: nothing was planned yet, so there is nothing to reset."
                " Change `start` in the spec."
            )
        return found

    @cached_property
    def position(self) -> HeldPosition:
        """Where it is, by each lane's last committed batch and what the data table holds.

        Raises as `cursor`, and TableRefused if the table is no longer Sluice's.
        """
        lane, cursor, cluster = self.forward, self.cursor, self.forward.history.cluster_id
        require_no_foreign_commits(lane)
        if lane.as_committed:
            last = self._last(self.claimed)
            return HeldPosition(lane.pipeline, cursor, cursor, last, cluster, lane.newest)
        found = [self._as_countable(each) for each in recorded_batches(lane, self.claimed)]
        listed = _listed(lane, self.claimed, found)
        ends = standing_ends(listed, found)
        held = row_ends(cursor, found, ends)
        if listed != self.claimed:
            held = _not_above(held, lane)
        return HeldPosition(
            lane.pipeline,
            cursor,
            held,
            self._last(ends),
            cluster,
            _newest(found, ends),
            tuple(lane.resets.closed_elsewhere(ends)),
            {} if lane.trusted else _highest_rows(lane, held),
        )

    def _last(self, ends: Ends) -> Mapping[Lane, int]:
        return {each: ends[replace(self.forward.sequence, lane=each)] for each in LANES}

    def _as_countable(self, each: RecordedBatch) -> RecordedBatch:
        """A batch that cannot be counted is read again."""
        if each.stands and not each.settled and self.receipt_of(each.batch) is None:
            return replace(each, stands=False)
        return each


def read_standing(resources: PipelineResources, trust: Trust) -> Standing:
    """Where the pipeline stands now, in tables of that trust."""
    forward = read_untrusted(resources)
    backfill = forward.in_lane("backfill")
    for lane in (forward, backfill):
        trust(lane)
    return Standing(forward, backfill, partial(receipt_of, resources, forward))


def _cursor(history: LaneHistory, committed: int) -> Cursor:
    if committed or history.opening:
        ranges = history.cursor_at(committed)
        return {at: cursor_at(planned, planned.offsets.end) for at, planned in ranges.items()}
    ranges = history.batches[0].by_partition if history.batches else {}
    return {at: cursor_at(planned, planned.offsets.start) for at, planned in ranges.items()}


def _listed(lane: LaneState, claimed: Ends, found: Sequence[RecordedBatch]) -> Ends:
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


def _newest(found: Sequence[RecordedBatch], ends: Ends) -> Batch | None:
    there = [
        each.batch
        for each in found
        if each.forward and each.batch.number <= ends[each.batch.sequence]
    ]
    return max(there, key=lambda each: (each.sequence.generation, each.number), default=None)
