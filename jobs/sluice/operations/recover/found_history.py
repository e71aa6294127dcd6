"""Found history: what a data table tells of its batches, where the offsets table does not.

Commits still in the table's log name their batches' ranges; rows name their batch, and where it
ends. Nothing else is written down: older batches are summed up by the number of the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sluice.offsets.batches import Batch, BatchSequence, Cursor, Lane, PlannedRange
from sluice.offsets.notation import parse_batch
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import OffsetRange
from sluice.offsets.resets import LANES, CursorMove, Reset
from sluice.positions.position import cursor_at
from sluice.progress.held_batches import Ends, known_ends, logged_in_effect, whole_ends
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
    """

    state: LaneState
    batches: Mapping[BatchSequence, Sequence[FoundBatch]]
    rows: StoredRows
    ends: Ends
    open: int

    @property
    def contradicts(self) -> bool:
        """Whether the offsets table tells of other batches: it is another table's history."""
        return any(self._planned_otherwise(each) for each in self.batches)

    def _planned_otherwise(self, sequence: BatchSequence) -> bool:
        planned = self.state.snapshot.planned(sequence)
        both = [each for each in self.batches[sequence] if each.batch.number <= planned]
        if not both:
            return False
        found = both[-1].batch
        stored = self.state.snapshot.batches(sequence, found.number, last=found.number)
        return [_places(each) for each in stored] != [_places(found)]

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

    def unlisted(self, batches: Sequence[Batch]) -> int:
        """How many rows are of batches that neither the offsets table nor these tell of."""
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

    def cursor(self, kafka: KafkaState) -> Cursor:
        """Where the table's rows end: by the last forward batch, else by the rows themselves."""
        last = self._last_forward()
        if last is not None:
            batch = self._batch(*last)
            if batch is not None:
                return {at: cursor_at(e, e.offsets.end) for at, e in batch.by_partition.items()}
            return self._cursor_by_rows(kafka)
        first = self.state.snapshot.batches(
            BatchSequence(self.state.pipeline, "forward", 1), last=1
        )
        return {
            at: cursor_at(each, each.offsets.start)
            for batch in first
            for at, each in batch.by_partition.items()
        }

    def _last_forward(self) -> tuple[BatchSequence, int] | None:
        for generation in range(self.open, 0, -1):
            sequence = BatchSequence(self.state.pipeline, "forward", generation)
            if number := self.ends.get(sequence, 0):
                return sequence, number
        return None

    def _batch(self, sequence: BatchSequence, number: int) -> Batch | None:
        found = [each.batch for each in self.batches.get(sequence, ())]
        found += self.state.snapshot.batches(sequence, number, last=number)
        return next((each for each in found if each.number == number), None)

    def _cursor_by_rows(self, kafka: KafkaState) -> Cursor:
        """Rows end at the last record, not at markers behind it: those are read once more."""
        topics = {partition.topic for partition, _ in self.rows.ends}
        found = {
            at: _range(OffsetRange(at, end, end), topic_id)
            for (at, topic_id), end in self.rows.ends.items()
            if at not in kafka.logs or kafka.logs[at].topic_id == topic_id
        }
        return {
            at: PlannedRange.of(OffsetRange(at, log.log_start_offset, log.log_start_offset), log)
            for at, log in kafka.logs.items()
            if at.topic in topics
        } | found

    def opening(self, kafka: KafkaState, reason: str) -> Reset:
        """The reset that closes all this, with those of earlier generations that are lacking."""
        state, cursor = self.state, self.cursor(kafka)
        resets = state.resets.by_generation
        recorded = {n: each for n, each in resets.items() if n <= self.open}
        lowered = {
            e.generation: e
            for e in replace(state.resets, by_generation=recorded).lowered(self.ends)
        }
        missing = {
            generation: self._reset(generation, self._began(generation) or cursor, kafka, reason)
            for generation in range(2, self.open + 1)
            if generation not in recorded or not recorded[generation].done
        }
        earlier = [each for _, each in sorted({**missing, **lowered}.items())]
        opened = self._reset(self.open + 1, cursor, kafka, reason)
        return replace(opened, earlier=tuple(earlier), done=True)

    def _reset(self, generation: int, cursor: Cursor, kafka: KafkaState, reason: str) -> Reset:
        data, before = self.state.data, generation - 1
        first = [each.version for each in self._forward(generation)[:1]]
        return Reset(
            pipeline=self.state.pipeline,
            generation=generation,
            closed_at={lane: self._end(lane, before) for lane in LANES},
            cursor=tuple(CursorMove(e, self._ended(before, e)) for _, e in sorted(cursor.items())),
            cluster_id=kafka.cluster_id,
            data_version=min([data.version or 0, *first]),
            reason=reason,
            data_table_id=data.table_id,
        )

    def _end(self, lane: Lane, generation: int) -> int:
        return self.ends.get(BatchSequence(self.state.pipeline, lane, generation), 0)

    def _forward(self, generation: int) -> Sequence[FoundBatch]:
        return self.batches.get(BatchSequence(self.state.pipeline, "forward", generation), ())

    def _began(self, generation: int) -> Cursor:
        """Where the first batch known of a generation began."""
        first = self._forward(generation)[:1]
        return {
            at: cursor_at(planned, planned.offsets.start)
            for each in first
            for at, planned in each.batch.by_partition.items()
        }

    def _ended(self, generation: int, moved: PlannedRange) -> int:
        """The cursor before a reset: where the last batch known of a generation ended.

        At the end it is also above all rows: what is read again there replaces them.
        """
        at = moved.offsets.partition
        last = [e.batch.by_partition.get(at, moved) for e in self._forward(generation)[-1:]]
        ended = last[0].offsets.end if last else moved.offsets.end
        if generation < self.open:
            return ended
        return max(ended, self.rows.ends.get((at, moved.topic_id), 0))


def find_history(state: LaneState, kafka: KafkaState) -> FoundHistory:
    """Read the data table's log and rows."""
    logged, rows = logged_in_effect(state), state.data.stored_rows()
    names, whole = known_ends(state.pipeline, logged, rows), whole_ends(state.pipeline, logged)
    open_generation = _open_generation(state, names)
    restored = any(each.restored is not None for each in state.data.commits())
    ends = {
        sequence: min(_end(state, sequence, names, restored), whole.get(sequence, FENCE))
        for generation in range(1, open_generation + 1)
        for lane in LANES
        for sequence in [BatchSequence(state.pipeline, lane, generation)]
    }
    found: dict[BatchSequence, list[FoundBatch]] = {}
    for each in sorted(logged, key=lambda each: each.version):
        batch = _found(state, each, kafka)
        if batch.batch.number <= ends[batch.batch.sequence]:
            found.setdefault(batch.batch.sequence, []).append(batch)
    return FoundHistory(state, found, rows, ends, open_generation)


def _open_generation(state: LaneState, names: Ends) -> int:
    """The newest generation that anything tells of, or the one behind it if that is closed."""
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
        tuple(_range(*each) for each in logged.ranges),
        state.data.table_id,
    )
    return FoundBatch(batch, logged.version, logged.rows)


def _range(offsets: OffsetRange, topic_id: str) -> PlannedRange:
    """A range of which the commit says no more: the log held it, that is all that is known."""
    return PlannedRange(offsets, topic_id, offsets.start, offsets.end, None)


def _places(batch: Batch) -> list[tuple[OffsetRange, str]]:
    return sorted((each.offsets, each.topic_id) for each in batch.ranges)
