"""The opening: the reset that closes all that was found, and where the pipeline goes on. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sluice.offsets.batches import Batch, BatchSequence, Cursor, Lane, PlannedRange
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.resets import LANES, CursorMove, Reset
from sluice.operations.recover.found_history import FoundHistory, range_found
from sluice.positions.position import cursor_at


@dataclass(frozen=True)
class Opening:
    """What a found history leads to, beside what Kafka holds now."""

    found: FoundHistory
    kafka: KafkaState

    def cursor(self) -> Cursor:
        """Where the table's rows end: by the last forward batch, else by the rows themselves.

        Where no batch is held, where the first one began; empty where that is not known.
        """
        last = self._last_forward()
        if last is None:
            return self._beginning()
        batch = self._batch(*last)
        if batch is None:
            return self._cursor_by_rows()
        return {at: cursor_at(e, e.offsets.end) for at, e in batch.by_partition.items()}

    @property
    def uncertain(self) -> bool:
        """Whether no batch tells where it goes on: only the last rows do, or nothing does."""
        last = self._last_forward()
        return not self._beginning() if last is None else self._batch(*last) is None

    def reset(self, reason: str, starts: Mapping[TopicPartition, int] | None = None) -> Reset:
        """The reset that closes all this, with those of earlier generations that are lacking.

        `starts` are where it begins where nothing else tells.
        """
        state, cursor = self.found.state, self.cursor() or self._at(starts or {})
        last = self.found.open
        resets = state.resets.by_generation
        recorded = {n: each for n, each in resets.items() if n <= last}
        known = replace(state.resets, by_generation=recorded)
        lowered = {each.generation: each for each in known.lowered(self.found.ends)}
        missing = {
            generation: self._reset(generation, self._began(generation) or cursor, reason)
            for generation in range(2, last + 1)
            if generation not in recorded or not recorded[generation].done
        }
        earlier = [each for _, each in sorted({**missing, **lowered}.items())]
        opened = self._reset(last + 1, cursor, reason)
        return replace(opened, earlier=tuple(earlier), done=True)

    def _last_forward(self) -> tuple[BatchSequence, int] | None:
        for generation in range(self.found.open, 0, -1):
            sequence = self._forward_of(generation)
            if number := self.found.ends.get(sequence, 0):
                return sequence, number
        return None

    def _batch(self, sequence: BatchSequence, number: int) -> Batch | None:
        found = [each.batch for each in self.found.batches.get(sequence, ())]
        found += self.found.state.snapshot.batches(sequence, number, last=number)
        return next((each for each in found if each.number == number), None)

    def _beginning(self) -> Cursor:
        planned = list(self.found.state.snapshot.batches(self._forward_of(1), last=1))
        if not planned and self.found.first is not None:
            planned = [self.found.first.batch]
        return _starts_of(planned)

    def _at(self, starts: Mapping[TopicPartition, int]) -> Cursor:
        logs = self.kafka.logs
        return {
            at: PlannedRange.of(OffsetRange(at, start, start), logs[at])
            for at, start in starts.items()
        }

    def _cursor_by_rows(self) -> Cursor:
        """Rows end at the last record, not at markers behind it: those are read once more."""
        rows, logs = self.found.rows, self.kafka.logs
        topics = {partition.topic for partition, _ in rows.ends}
        found = {
            at: range_found(OffsetRange(at, end, end), topic_id)
            for (at, topic_id), end in rows.ends.items()
            if at not in logs or logs[at].topic_id == topic_id
        }
        starts = {at: log.log_start_offset for at, log in logs.items() if at.topic in topics}
        return {**self._at(starts), **found}

    def _reset(self, generation: int, cursor: Cursor, reason: str) -> Reset:
        data, before = self.found.state.data, generation - 1
        first = [e.version for e in self.found.batches.get(self._forward_of(generation), ())[:1]]
        return Reset(
            pipeline=self.found.state.pipeline,
            generation=generation,
            closed_at={lane: self._end(lane, before) for lane in LANES},
            cursor=tuple(CursorMove(e, self._ended(before, e)) for _, e in sorted(cursor.items())),
            cluster_id=self.kafka.cluster_id,
            data_version=min([data.version or 0, *first]),
            reason=reason,
            data_table_id=data.table_id,
        )

    def _end(self, lane: Lane, generation: int) -> int:
        sequence = replace(self._forward_of(generation), lane=lane)
        return self.found.ends.get(sequence, 0)

    def _forward_of(self, generation: int) -> BatchSequence:
        return BatchSequence(self.found.state.pipeline, "forward", generation)

    def _began(self, generation: int) -> Cursor:
        """Where the first batch known of a generation began."""
        first = self.found.batches.get(self._forward_of(generation), ())[:1]
        return _starts_of([each.batch for each in first])

    def _ended(self, generation: int, moved: PlannedRange) -> int:
        """The cursor before a reset: where the last batch known of a generation ended.

        At the end it is also above all rows: what is read again there replaces them.
        """
        at = moved.offsets.partition
        known = self.found.batches.get(self._forward_of(generation), ())
        last = [each.batch.by_partition.get(at, moved) for each in known[-1:]]
        ended = last[0].offsets.end if last else moved.offsets.end
        if generation < self.found.open:
            return ended
        return max(ended, self.found.rows.ends.get((at, moved.topic_id), 0))


def _starts_of(batches: list[Batch]) -> Cursor:
    return {
        at: cursor_at(planned, planned.offsets.start)
        for each in batches
        for at, planned in each.by_partition.items()
    }
