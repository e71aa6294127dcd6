"""Found history: what a data table shows about its batches if the offsets table does not.

Commits still in the table's log name their batches' ranges; rows name their batch, and where it
ends. Nothing else is written down: older batches are summed up by the number of the last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sluice.offsets.batches import Batch, BatchSequence, PlannedRange
from sluice.offsets.notation import parse_batch
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import OffsetRange
from sluice.offsets.resets import LANES, sequences_up_to
from sluice.operations.recover.copied import aside_beside_copy, held_by_copy
from sluice.progress.held_batches import Ends, known_ends, whole_ends
from sluice.progress.lane_state import LaneState
from sluice.tables.batch_commits import LoggedBatch
from sluice.tables.fence import FENCE
from sluice.tables.stored_rows import StoredRows


@dataclass(frozen=True)
class FoundBatch:
    """A batch as its commit tells it, the version it landed in and the rows it wrote."""

    batch: Batch
    version: int
    rows: int


@dataclass(frozen=True)
class FoundHistory:
    """The data table's own account, beside what the offsets table still says (`state`).

    `ends` are the last batches that count, by sequence, up to the generation that is `open`.
    `first` is the very first batch, also where its rows are gone, if its commit is still there.
    """

    state: LaneState
    batches: Mapping[BatchSequence, Sequence[FoundBatch]]
    rows: StoredRows
    ends: Ends
    open: int
    first: FoundBatch | None = None

    @property
    def contradicts(self) -> bool:
        """Whether the offsets table has other batches: it is another table's history."""
        return any(self._planned_otherwise(each) for each in self.batches)

    def _planned_otherwise(self, sequence: BatchSequence) -> bool:
        planned = self.state.snapshot.planned(sequence)
        both = [each for each in self.batches[sequence] if each.batch.number <= planned]
        if not both:
            return False
        found = both[-1].batch
        stored = self.state.snapshot.batches(sequence, found.number, last=found.number)
        return [_places(each) for each in stored] != [_places(found)]

    @property
    def newest(self) -> set[int]:
        """The version that the last batch of each lane landed in."""
        landed = {
            (e.batch.sequence.lane, e.version) for found in self.batches.values() for e in found
        }
        return {max(version for of, version in landed if of == lane) for lane, _ in landed}

    def lacking(self) -> Iterator[FoundBatch]:
        """The batches that count and have no plan or no receipt, each sequence in order."""
        snapshot = self.state.snapshot
        for sequence, found in self.batches.items():
            settled, planned = snapshot.settled(sequence), snapshot.planned(sequence)
            plans = {
                each.number: each for each in snapshot.batches(sequence, settled + 1, last=planned)
            }
            for each in (each for each in found if settled < each.batch.number):
                yield replace(each, batch=plans.get(each.batch.number, each.batch))

    def undone(self, kafka: KafkaState) -> list[Batch]:
        """The batches without a plan that a RESTORE has undone, each sequence in order.

        They do not count; but another RESTORE may bring their rows back.
        """
        standing = self.state.data.log.batches_in_effect()
        found = {
            (each.batch.sequence, each.batch.number): each.batch
            for logged in reversed(self.state.data.log.logged_batches())
            if logged not in standing and (each := _found(self.state, logged, kafka))
        }
        return [
            batch
            for (sequence, number), batch in sorted(found.items())
            if number > max(self.ends.get(sequence, 0), self.state.snapshot.planned(sequence))
        ]

    def unlisted(self, batches: Sequence[Batch]) -> int:
        """How many rows are of batches that neither the offsets table nor these know."""
        first = {each.sequence: each.number for each in reversed(batches)}
        return sum(
            count for name, count in self.rows.counts.items() if not self._listed(name, first)
        )

    def _listed(self, name: str, first: Mapping[BatchSequence, int]) -> bool:
        try:
            sequence, number = parse_batch(self.state.pipeline, name)
        except ValueError:
            return False
        planned = self.state.snapshot.planned(sequence)
        return number <= planned or first.get(sequence, number + 1) <= number


def find_history(state: LaneState, kafka: KafkaState) -> FoundHistory:
    """Read the data table's log and rows."""
    logged, rows = state.data.log.batches_in_effect(), state.data.stored_rows()
    named, whole = known_ends(state.pipeline, logged, rows), whole_ends(state.pipeline, logged)
    names = _furthest(named, aside_beside_copy(state, named, rows))
    open_generation = _open_generation(state, names)
    restored = any(each.restored is not None for each in state.data.log.commits())
    elsewhere, copied = _begun_elsewhere(state, rows), held_by_copy(state, names)
    ends = {
        sequence: 0
        if sequence in elsewhere
        else max(
            min(_end(state, sequence, names, restored), whole.get(sequence, FENCE)),
            copied.get(sequence, 0),
        )
        for sequence in sequences_up_to(state.pipeline, open_generation)
    }
    found: dict[BatchSequence, list[FoundBatch]] = {}
    for each in sorted(logged, key=lambda each: each.version):
        batch = _found(state, each, kafka)
        if batch.batch.number <= ends[batch.batch.sequence]:
            found.setdefault(batch.batch.sequence, []).append(batch)
    first = BatchSequence(state.pipeline, "forward", 1).batch(1)
    begun = [each for each in state.data.log.logged_batches() if each.name == first]
    began = _found(state, begun[-1], kafka) if begun else None
    return FoundHistory(state, found, rows, ends, open_generation, began)


def _furthest(ends: Ends, others: Ends) -> Ends:
    return {each: max(ends.get(each, 0), others.get(each, 0)) for each in {**ends, **others}}


def _begun_elsewhere(state: LaneState, rows: StoredRows) -> set[BatchSequence]:
    """The sequences whose first batches landed in another table that was here before.

    This one's log is whole, and neither it nor a row shows them.
    """
    if state.data.log.last_lost >= 0:
        return set()
    logged = [each.name for each in state.data.log.logged_batches()]
    found = dict(sorted(_numbers(state.pipeline, logged), reverse=True))
    named = set(_numbers(state.pipeline, rows.counts))
    return {
        sequence
        for sequence, lowest in found.items()
        if lowest > 1 and not any((sequence, below) in named for below in range(1, lowest))
    }


def _numbers(pipeline: str, names: Iterable[str]) -> Iterator[tuple[BatchSequence, int]]:
    for each in names:
        # What others have written names no batch.
        with suppress(ValueError):
            yield parse_batch(pipeline, each)


def _open_generation(state: LaneState, names: Ends) -> int:
    """The newest known generation, or the one after it if that is closed."""
    newest = max([state.generation, *(each.generation for each in names)])
    while any(
        state.data.committed(BatchSequence(state.pipeline, lane, newest + 1)) for lane in LANES
    ):
        newest += 1
    closed = state.data.committed(BatchSequence(state.pipeline, "forward", newest)) == FENCE
    return newest + 1 if closed else newest


def _end(state: LaneState, sequence: BatchSequence, names: Ends, restored: bool) -> int:
    """The last batch of a sequence; transaction ids outlive a RESTORE that took rows away."""
    committed, named = state.data.committed(sequence), names.get(sequence, 0)
    closing = state.resets.by_generation.get(sequence.generation + 1)
    recorded = closing.closed_at[sequence.lane] if closing and closing.done else FENCE
    if committed == FENCE:
        return named if recorded == FENCE else recorded
    return min(recorded, named if restored else max(committed, named))


def _found(state: LaneState, logged: LoggedBatch, kafka: KafkaState) -> FoundBatch:
    sequence, number = parse_batch(state.pipeline, logged.name)
    batch = Batch(
        sequence,
        number,
        "replace" if logged.replaces else "append",
        kafka.cluster_id,
        tuple(range_found(*each) for each in logged.ranges),
        state.data.table_id,
        only=logged.only,
    )
    return FoundBatch(batch, logged.version, logged.rows)


def range_found(offsets: OffsetRange, topic_id: str) -> PlannedRange:
    """A range of which the commit says no more: the log held it, that is all that is known."""
    return PlannedRange(offsets, topic_id, offsets.start, offsets.end, None)


def _places(batch: Batch) -> list[tuple[OffsetRange, str]]:
    return sorted((each.offsets, each.topic_id) for each in batch.ranges)
