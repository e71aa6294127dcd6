"""The state of a lane: the offsets table and the data table at matching versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sluice.errors import TableRefused
from sluice.offsets.batches import Batch, BatchSequence, Cursor, Lane
from sluice.offsets.history import LaneHistory
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import LANES, Reset, Resets
from sluice.progress.resources import PipelineResources
from sluice.progress.trust import KnownTable, LaneEnds, known_table, other_table
from sluice.tables.delta_log import DeltaSnapshot
from sluice.tables.fence import FENCE
from sluice.tables.offsets_table import OffsetsSnapshot

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
    def unfinished(self) -> tuple[Batch, ...]:
        """The batches planned but not yet committed."""
        return self.history.after(self.committed)

    @property
    def last(self) -> Batch | None:
        """The last committed batch."""
        return self.history.batch(self.committed) if self.committed else None

    @property
    def due(self) -> tuple[Batch, ...]:
        """The committed batches that have no receipt yet, in order."""
        waiting = self.history.after(self.history.settled)
        return tuple(batch for batch in waiting if batch.number <= self.committed)

    @property
    def cursor(self) -> Cursor:
        """Where each partition's next batch starts, after the last committed one."""
        return self.history.cursor_at(self.committed)

    @property
    def positions(self) -> Mapping[TopicPartition, int]:
        """The cursor as offsets: the next one to read, by partition."""
        return {partition: last.offsets.end for partition, last in self.cursor.items()}

    @property
    def committed_by_lane(self) -> Mapping[Lane, int]:
        """The last committed batch of each lane of this generation."""
        return {lane: self.committed_of(replace(self.sequence, lane=lane)) for lane in LANES}

    def committed_of(self, sequence: BatchSequence) -> int:
        """The last committed batch of any sequence; for a closed one, where it was closed."""
        committed = self.data.committed(sequence)
        return self.resets.closed_at(sequence) if committed == FENCE else committed


@dataclass(frozen=True)
class SequenceEnd:
    """How far a sequence is committed; a reset undid any batch that landed above `last`."""

    sequence: BatchSequence
    last: int
    closed: bool


def read_unchecked(
    resources: PipelineResources, lane: Lane = "forward", *, to_write: bool = False
) -> LaneState:
    """The current state of a lane, without a check for foreign commits: for previews and resets.

    Raises TableRefused unless the data table is the one that plans, receipts and resets speak of.
    """
    state = read_untrusted(resources, lane, to_write=to_write)
    try:
        state.known.require(state.data)
    except TableRefused:
        # A foreign commit explains more, if the table's log still holds it.
        state.data.require_no_foreign_commits(resources.spec.pipeline)
        raise
    return state


def read_untrusted(
    resources: PipelineResources, lane: Lane = "forward", *, to_write: bool = False
) -> LaneState:
    """The current state of a lane, whatever the data table is: for what leads back to trust.

    If another process plans, commits or resets between the two reads, both are repeated.
    """
    offsets = resources.offsets
    for _ in range(_READINGS):
        # Keep this order: a fence lands after the row that says where it closes.
        snapshot = offsets.snapshot_to_write() if to_write else offsets.snapshot()
        data = resources.data.snapshot()
        resets = snapshot.resets()
        newest = replace(_newest(resources.spec.pipeline, resets, data), lane=lane)
        if all(data.committed(each) <= snapshot.planned(each) for each in _both_lanes(newest)):
            break
    history = snapshot.history(newest, resets)
    receipts = [
        receipt for each in _both_lanes(newest) for receipt in snapshot.receipts(each, newest=1)
    ]
    known = known_table(
        [
            LaneEnds(each, snapshot.settled(each), snapshot.planned(each))
            for each in _both_lanes(newest)
        ],
        history,
        receipts,
        [each for reset in _opened(resets, newest) for each in reset.closes],
    )
    return LaneState(
        snapshot, data, resets, history, data.committed(newest), tuple(receipts), known
    )


def sequence_end(resources: PipelineResources, sequence: BatchSequence) -> SequenceEnd:
    """How far a sequence is currently committed."""
    return _sequence_end(resources, resources.data.snapshot(), sequence)


def batch_end(resources: PipelineResources, batch: Batch) -> SequenceEnd:
    """The same for a batch's sequence.

    Raises TableRefused in another table than the one that the batch was planned for: Spark writes
    by path, and lands a batch in whatever table it finds there.
    """
    data = resources.data.snapshot()
    if batch.data_table_id not in (None, data.table_id):
        named = other_table(batch.sequence.pipeline, batch.data_table_id, data)
        raise TableRefused(f"{data.uri}: {named}")
    return _sequence_end(resources, data, batch.sequence)


def _sequence_end(
    resources: PipelineResources, data: DeltaSnapshot, sequence: BatchSequence
) -> SequenceEnd:
    committed = data.committed(sequence)
    if committed < FENCE:
        return SequenceEnd(sequence, committed, closed=False)
    resets = resources.offsets.snapshot().resets()
    return SequenceEnd(sequence, resets.closed_at(sequence), closed=True)


def _both_lanes(sequence: BatchSequence) -> list[BatchSequence]:
    return [replace(sequence, lane=lane) for lane in LANES]


def _opened(resets: Resets, newest: BatchSequence) -> list[Reset]:
    """The resets up to the newest generation."""
    return [each for number, each in resets.by_generation.items() if number <= newest.generation]


def _newest(pipeline: str, resets: Resets, data: DeltaSnapshot) -> BatchSequence:
    """The forward lane of the newest generation: a reset counts once its fence stands."""
    newest = resets.newest
    if newest is None:
        return BatchSequence(pipeline, "forward", 1)
    closed = newest.closes[0]
    if newest.done or data.closed(closed):
        return replace(closed, generation=newest.generation)
    return closed
