"""The state of a lane: the offsets table and the data table at matching versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sluice.errors import TableRefused
from sluice.offsets.batches import Batch, BatchSequence, Cursor, Lane
from sluice.offsets.history import LaneHistory
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.reach import NO_REACH, Reach
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import LANES, Reset, Resets, both_lanes, sequences_up_to
from sluice.progress.judged import marked
from sluice.progress.quarantine_trust import known_quarantine
from sluice.progress.resources import PipelineResources
from sluice.progress.sequence_end import SequenceEnd
from sluice.progress.trust import KnownTable, LaneEnds, known_table
from sluice.progress.unsettled import unsettled_before
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.fence import FENCE
from sluice.tables.foreign_commits import TableCommit, judged_up_to, restores_of
from sluice.tables.offsets_snapshot import OffsetsSnapshot
from sluice.tables.quarantine_table import NO_QUARANTINE, QuarantineSnapshot

# Each repetition means that another process planned and committed between the two reads.
_READINGS = 5


@dataclass(frozen=True)
class LaneState:
    """One lane of the newest generation: what is planned, and what is committed.

    `committed` numbers the last committed batch, 0 where there is none; `receipts` are the last
    ones of both lanes; `known` is the data table as the offsets table knows it.
    """

    snapshot: OffsetsSnapshot
    data: DeltaSnapshot
    resets: Resets
    history: LaneHistory
    committed: int
    receipts: tuple[Receipt, ...]
    known: KnownTable
    quarantine: QuarantineSnapshot

    @property
    def pipeline(self) -> str:
        """The pipeline's name."""
        return self.sequence.pipeline

    @property
    def sequence(self) -> BatchSequence:
        """The lane's sequence of batches."""
        return self.history.sequence

    @property
    def generation(self) -> int:
        """The newest generation."""
        return self.sequence.generation

    @property
    def trusted(self) -> bool:
        """Whether the data table is the one that plans, receipts and resets speak of."""
        return not list(self.known.differences(self.data))

    @cached_property
    def as_committed(self) -> bool:
        """Whether the data table is the known one, and was never restored."""
        return self.trusted and not restores_of(self.data.log.commits())

    @property
    def unfenced(self) -> list[BatchSequence]:
        """The closed sequences whose fence is gone; none in a table that is trusted."""
        return [each for each in self.known.closed if not self.data.closed(each)]

    @property
    def unfinished(self) -> tuple[Batch, ...]:
        """The batches planned but not yet committed."""
        return self.history.after(max(self.committed, self.history.settled))

    @property
    def last(self) -> Batch | None:
        """The last committed batch."""
        return self.history.batch(self.committed) if self.committed else None

    @property
    def newest(self) -> Batch | None:
        """The newest committed batch of the forward lane, of this generation or an earlier one."""
        return self.last or self.reach.newest

    @cached_property
    def reach(self) -> Reach:
        """What the forward lane has committed in the generations before; read only when needed."""
        found = NO_REACH
        for closed in sequences_up_to(self.pipeline, self.generation - 1, ["forward"]):
            numbers = {self.snapshot.planned(closed), self.resets.closed_at(closed)} - {0}
            batches = [
                each
                for number in numbers
                for each in self.snapshot.batches(closed, number, last=number)
            ]
            resets, number = self.resets.by_generation, closed.generation
            found = found.with_generation(resets[number + 1], batches, resets.get(number))
        return found

    def in_lane(self, lane: Lane) -> LaneState:
        """The state of this or the other lane, at the same version of each table."""
        if lane == self.sequence.lane:
            return self
        return lane_state(self.pipeline, self.snapshot, self.data, lane, self.quarantine)

    def with_resets(self, resets: Iterable[Reset]) -> LaneState:
        """The lane, as these resets close earlier generations."""
        known = {**self.resets.by_generation, **{each.generation: each for each in resets}}
        return replace(self, resets=Resets(known))

    def closed_by(self, reset: Reset) -> LaneState:
        """The lane as the reset will open it, with nothing planned yet."""
        return replace(
            self.with_resets([reset]),
            history=LaneHistory(replace(self.sequence, generation=reset.generation), opening=reset),
            committed=0,
        )

    @property
    def due(self) -> tuple[Batch, ...]:
        """The committed batches that have no receipt yet, in order."""
        before = unsettled_before(self.snapshot, self.resets, self.sequence)
        waiting = self.history.after(self.history.settled)
        return (*before, *(batch for batch in waiting if batch.number <= self.committed))

    @property
    def cursor(self) -> Cursor:
        """Where each partition's next batch starts, after the last committed one."""
        return self.history.cursor_at(self.committed)

    @property
    def positions(self) -> Mapping[TopicPartition, int]:
        """The cursor as offsets: the next one to read, by partition."""
        return {partition: last.offsets.end for partition, last in self.cursor.items()}

    @property
    def checked(self) -> int:
        """The data table's version up to which commits of others were judged; -1 for none.

        Receipts and resets record it, and marks. Nothing is known of a table put back behind them.
        """
        found = self.known.version if self.receipts or self.history.opening else -1
        return max(found if found <= (self.data.version or 0) else -1, marked(self, self.data))

    def commits(self, above: int = -1) -> list[TableCommit]:
        """Every commit of the data table above a version that its log still holds."""
        return judged_up_to(self.data.log.commits(above), self.checked)

    def committed_of(self, sequence: BatchSequence) -> int:
        """The last committed batch of any sequence; for a closed one, where it was closed."""
        return self.end_of(sequence).last

    def end_of(self, sequence: BatchSequence) -> SequenceEnd:
        """How far any sequence is committed."""
        committed = self.data.committed(sequence)
        if committed < FENCE:
            return SequenceEnd(sequence, committed, closed=False)
        return SequenceEnd(sequence, self.resets.closed_at(sequence), closed=True)


def read_unchecked(resources: PipelineResources, lane: Lane = "forward") -> LaneState:
    """The current state of a lane, without a check for foreign commits: for previews and resets.

    Raises as `require_trusted`.
    """
    state = read_untrusted(resources, lane)
    require_trusted(state)
    return state


def require_trusted(state: LaneState) -> None:
    """Raises TableRefused unless the tables are those that plans, receipts and resets speak of."""
    try:
        state.known.require(state.data)
    except TableRefused:
        # A foreign commit explains more, if the table's log still holds it.
        state.data.log.require_no_foreign_commits(state.pipeline)
        raise
    known_quarantine(state).require(state.quarantine)


def read_untrusted(resources: PipelineResources, lane: Lane = "forward") -> LaneState:
    """The current state of a lane, whatever the data table is: for what leads back to trust.

    If another process plans, commits or resets between the two reads, both are repeated. Raises
    NewerFormat where a newer Sluice has written to either.
    """
    for _ in range(_READINGS):
        # Keep this order: a fence lands after the row that says where it closes.
        snapshot = resources.offsets.snapshot()
        data = resources.data.snapshot()
        newest = replace(_newest(resources.spec.pipeline, snapshot.resets(), data), lane=lane)
        quarantine = resources.quarantine.snapshot()
        landed = {each: data.committed(each) for each in both_lanes(newest)}
        if all(quarantine.last_closed(e) <= n <= snapshot.planned(e) for e, n in landed.items()):
            break
    state = lane_state(resources.spec.pipeline, snapshot, data, lane, quarantine)
    data.log.require_known_format(state.checked)
    return state


def lane_state(
    pipeline: str,
    snapshot: OffsetsSnapshot,
    data: DeltaSnapshot,
    lane: Lane = "forward",
    quarantine: QuarantineSnapshot = NO_QUARANTINE,
) -> LaneState:
    """The state of a lane at one version of each table. Raises OffsetsDamaged."""
    resets = snapshot.resets()
    newest = replace(_newest(pipeline, resets, data), lane=lane)
    history = snapshot.history(newest, resets)
    # Also of the generation before: a RESTORE may have taken receipts that came after the reset.
    lately = sequences_up_to(pipeline, newest.generation)[-2 * len(LANES) :]
    found = {each: snapshot.newest_receipt(each) for each in lately}
    lanes = both_lanes(newest)
    receipts = [receipt for each in lanes for receipt in found[each]]
    ends = [(e, snapshot.settled(e), snapshot.planned(e), quarantine.last_closed(e)) for e in lanes]
    known = known_table(
        [LaneEnds(*each, *found[each[0]]) for each in ends],
        history,
        receipts,
        [each for reset in resets.up_to(newest.generation) for each in reset.closes],
    )
    last = data.committed(newest)
    return LaneState(snapshot, data, resets, history, last, tuple(receipts), known, quarantine)


def _newest(pipeline: str, resets: Resets, data: DeltaSnapshot) -> BatchSequence:
    """The forward lane of the newest generation: a reset counts once its fence stands."""
    newest = resets.newest
    if newest is None:
        return BatchSequence(pipeline, "forward", 1)
    closed = newest.closes[0]
    if newest.done or data.closed(closed):
        return replace(closed, generation=newest.generation)
    return closed
