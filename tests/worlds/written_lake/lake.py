"""The written lake of one pipeline: its data and quarantine tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
from sluice.clock import Chance, Clock
from sluice.failpoints import reach
from sluice.lake.begun_write import begin_write
from sluice.lake.kept_rows import rows_of_nothing
from sluice.lake.port import BatchAttempt, QuarantineResult, StateLake, Undecodable
from sluice.offsets.batches import Batch
from sluice.offsets.filtered import FilteredOffsets
from sluice.offsets.ranges import OffsetRange, TopicPartition, span_of
from sluice.offsets.receipts import Span
from sluice.progress.resources import PipelineResources
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.batch_commits import batch_metadata

from tests.worlds.written_lake.creation import QUARANTINE, Tables
from tests.worlds.written_lake.decoded import Decoded, decoded
from tests.worlds.written_lake.kinds import is_left_out
from tests.worlds.written_lake.moments import microseconds
from tests.worlds.written_lake.records import ReadRecords, Record
from tests.worlds.written_lake.replaced import RowsInRanges
from tests.worlds.written_lake.state import TableState
from tests.worlds.written_lake.state_table import WrittenState
from tests.worlds.written_lake.types import arrow_schema, field_of
from tests.worlds.written_lake.writing import Writing, besides, places_of

_SAMPLES = 5


@dataclass(frozen=True)
class WrittenLake:
    """Implements the port `Lake`. `switch` is told of each step at which others may come."""

    resources: PipelineResources
    spec: PipelineSpec
    read_records: ReadRecords
    clock: Clock
    chance: Chance
    switch: Callable[[str], None]

    def prepare(self) -> None:
        """Create the data table unless it exists."""
        Tables(self.clock, self.chance).create_data(self.resources.data.uri, self.spec)

    def align(self) -> None:
        """Give the data table the properties and comments that the spec has now."""
        Tables(self.clock, self.chance).align(self.resources.data.uri, self.spec)

    def prepare_quarantine(self) -> None:
        """Create the quarantine table unless it exists."""
        Tables(self.clock, self.chance).create_quarantine(self.resources.quarantine.uri, self.spec)

    def land(self, attempt: BatchAttempt) -> None:
        """Commit the batch if all of it is decodable. Raises Undecodable, nothing committed."""
        self._commit(attempt, _all)

    def land_decodable(self, attempt: BatchAttempt) -> None:
        """Commit the batch's decodable records; the others must already be in quarantine."""
        self._commit(attempt, _decodable)

    def quarantine(self, attempt: BatchAttempt) -> QuarantineResult:
        """Make the batch's undecodable records durable, with the ticket of the attempt."""
        ticket = attempt.ticket
        assert ticket is not None, "the protocol gives it"
        reach("reading")
        writing = self._writing(self.resources.quarantine.uri)
        records = self._read(attempt)
        found = [each for each in self._decoded(records) if not is_left_out(each, self.spec)]
        wrong = [each for each in found if each.error is not None]
        told = batch_metadata(attempt.batch, attempt.id)
        if not writing.has_used(ticket.app_id, ticket.number):
            rows = self._set_aside(wrong, attempt, microseconds(ticket.at))
            writing.append(rows, (ticket.app_id, ticket.number), told)
        self.resources.quarantine.snapshot().require_added(ticket, attempt.id)
        in_order = sorted(wrong, key=lambda each: (each.record.partition, each.record.offset))
        samples = tuple(f"{each.record}: {each.error}" for each in in_order[:_SAMPLES])
        return QuarantineResult(len(found), len(wrong), samples)

    @contextmanager
    def state(self) -> Iterator[StateLake]:
        """What writes the state table."""
        yield WrittenState(self.resources, self.clock, self.chance, self.switch)

    def _commit(
        self, attempt: BatchAttempt, chosen: Callable[[Sequence[Decoded]], list[Decoded]]
    ) -> None:
        reach("reading")
        again: list[Record] | None = None
        if attempt.replaces:
            # Spark counts the records first, and reads them once more to write them.
            again = self._read(attempt)
            reach("kept rows known")
        attempt = begin_write(self.resources, attempt)
        writing = self._writing(self.resources.data.uri)
        recorded = (attempt.batch.sequence.app_id, attempt.batch.number)
        if writing.has_used(*recorded):
            return
        records = again if again is not None and attempt.compacts else self._read(attempt)
        found = self._decoded(records)
        left_out = [each for each in found if is_left_out(each, self.spec)]
        rows = self._rows(chosen([each for each in found if each not in left_out]), attempt)
        told = batch_metadata(
            *(attempt.batch, attempt.id, attempt.fingerprints, self.spec.edition, attempt.aside),
            filtered=_filtered(attempt, left_out),
            based_on=attempt.based_on,
        )
        columns = (*self.spec.shape.columns, *self.spec.formats.our_columns)
        if again is None:
            writing.append(rows, recorded, told, columns)
            return
        where = RowsInRanges(attempt)
        if len(again) < span_of(attempt.ranges):
            read = {(each.partition, each.offset) for each in again}
            kept = writing.rows_besides(where, read)
            rows += self._that_stay(kept, attempt)
        writing.replace(rows, where, told, recorded, columns)

    def _that_stay(self, parts: Sequence[pa.Table], attempt: BatchAttempt) -> list[pa.Table]:
        """Of rows whose records were not delivered, those whose records are proved gone.

        A batch that may not change them takes them over as they are.
        """
        if attempt.batch.only is not None:
            return [_taken_over(each, str(attempt)) for each in parts]
        undelivered: dict[TopicPartition, list[Span]] = {}
        for partition, at in sorted({place for each in parts for place in places_of(each)}):
            undelivered.setdefault(partition, []).append((at, at + 1))
        gone = rows_of_nothing(self.resources.kafka, undelivered)
        offsets = ((each.partition, range(each.start, each.end)) for each in gone)
        left_out = {(partition, at) for partition, some in offsets for at in some}
        return [besides(each, left_out) for each in parts]

    def _read(self, attempt: BatchAttempt) -> list[Record]:
        found = [each for some in attempt.ranges if some.span for each in self.read_records(some)]
        only = attempt.batch.only
        return found if only is None else [each for each in found if _is_in(each, only)]

    def _decoded(self, records: Iterable[Record]) -> list[Decoded]:
        return [decoded(each, self.spec) for each in records]

    def _writing(self, uri: str) -> Writing:
        writing = Writing(TableState(uri), self.clock, self.chance, self.switch)
        self.switch("lake: snapshot taken")
        return writing

    def _rows(self, found: Iterable[Decoded], attempt: BatchAttempt) -> list[pa.Table]:
        columns = (*self.spec.shape.columns, *self.spec.formats.our_columns)
        kept = {each.name for each in self.spec.shape.columns}

        def row(each: Decoded) -> dict[str, Any]:
            fields = {name: each.fields.get(name) for name in kept}
            tombstone = each.record.value is None
            envelope = _envelope(each.record, attempt.batch)
            return {**fields, **envelope, "_tombstone": tombstone, "_batch": str(attempt)}

        return _tables(found, row, arrow_schema(map(field_of, columns)))

    def _set_aside(
        self, found: Iterable[Decoded], attempt: BatchAttempt, at: int
    ) -> list[pa.Table]:
        def row(each: Decoded) -> dict[str, Any]:
            envelope = _envelope(each.record, attempt.batch)
            told = {"value": each.record.value, "error": each.error, "_batch": str(attempt)}
            return {**envelope, **told, "quarantined_at": at}

        return _tables(found, row, arrow_schema(map(field_of, QUARANTINE)))


def _filtered(attempt: BatchAttempt, left_out: Iterable[Decoded]) -> FilteredOffsets:
    found: dict[TopicPartition, list[int]] = {}
    for each in left_out:
        found.setdefault(each.record.partition, []).append(each.record.offset)
    ranges = [each.offsets for each in attempt.batch.ranges]
    return FilteredOffsets.of(ranges, {at: np.array(each) for at, each in found.items()})


def _taken_over(rows: pa.Table, batch: str) -> pa.Table:
    names = pa.array([batch] * len(rows), pa.string())
    return rows.set_column(rows.schema.names.index("_batch"), "_batch", names)


def _is_in(record: Record, ranges: Iterable[OffsetRange]) -> bool:
    return any(
        each.partition == record.partition and each.start <= record.offset < each.end
        for each in ranges
    )


def _all(found: Sequence[Decoded]) -> list[Decoded]:
    for each in found:
        if each.error is not None:
            raise Undecodable(f"{each.record} - {each.error}")
    return list(found)


def _decodable(found: Sequence[Decoded]) -> list[Decoded]:
    return [each for each in found if each.error is None]


def _tables(
    found: Iterable[Decoded], row: Callable[[Decoded], dict[str, Any]], schema: pa.Schema
) -> list[pa.Table]:
    """The rows by Kafka's partitions: Spark reads each in a task, which writes a file."""
    by_partition = groupby(found, key=lambda each: each.record.partition)
    return [pa.Table.from_pylist([row(each) for each in mine], schema) for _, mine in by_partition]


def _envelope(record: Record, batch: Batch) -> dict[str, Any]:
    headers = [{"key": key, "value": value} for key, value in record.headers]
    return {
        "_topic": record.partition.topic,
        "_topic_id": batch.topic_ids[record.partition.topic],
        "_partition": record.partition.partition,
        "_offset": record.offset,
        "_timestamp": record.timestamp * 1000,
        "_key": record.key,
        "_headers": headers or None,
    }
