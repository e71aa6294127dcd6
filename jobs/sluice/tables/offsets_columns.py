"""Columns of the offsets table: the ranges of very many batches, read a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sluice.offsets.batches import BatchSequence
from sluice.offsets.range_columns import NumberedBatch, OffsetScope, RangeColumns
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition
from sluice.offsets.row_offsets import Offsets
from sluice.tables.chunks import encoded, numbers, touched
from sluice.tables.data_files import Condition
from sluice.tables.deciding_keys import BEGINS, read_only
from sluice.tables.offsets_files import OffsetsFiles

Numbers = Mapping[BatchSequence, tuple[int, int]]
"""For each sequence the first and the last batch."""

_NAMES = ("lane", "topic", "topic_id")
# Our names for columns of every event, and of receipts.
_RANGE = {"number": "batch_id", "start": "start_offset", "end": "end_offset"}
_COUNTS = {
    "version": "data_version",
    "records": "records",
    "quarantined": "quarantined",
    "control": "gap_control",
    "aborted": "gap_aborted",
    "filtered": "filtered",
}


class OffsetsColumns:
    """The rows of plans and receipts at one version of the offsets table, as columns."""

    def __init__(self, files: OffsetsFiles | None) -> None:
        self._files = files

    def ranges(
        self,
        event: str,
        batches: Numbers,
        scope: OffsetScope | None = None,
        also: Sequence[Condition] = (),
    ) -> RangeColumns:
        """The ranges of some batches in the rows of an event, those that the scope touches.

        Only they are kept in memory. Statistics skip the files of others.
        """
        found = _Chunks(batches, scope)
        wanted: list[Condition] = [("event", "=", event), *also]
        if batches:
            firsts, lasts = zip(*batches.values(), strict=True)
            wanted += [("batch_id", ">=", min(firsts)), ("batch_id", "<=", max(lasts))]
        if scope is not None:
            lowest, behind = scope.bounds
            wanted += [("start_offset", "<=", behind), ("end_offset", ">=", lowest)]
        counts = _COUNTS.values() if event == "committed" else ()
        columns = [*_NAMES, "generation", "partition", *_RANGE.values()]
        # A table of before a column was added lacks it.
        columns += [each for each in counts if self._files and each in self._files.names]
        for chunk in self._chunks(columns, wanted) if batches else ():
            found.add(chunk)
        return found.columns()

    def only(
        self, backfills: Iterable[BatchSequence]
    ) -> Mapping[NumberedBatch, Sequence[OffsetRange]]:
        """The offsets that a batch may change, of those batches that may not change all."""
        by_generation = {each.generation: each for each in backfills}
        if self._files is None:
            return {}
        wanted = [("event", "=", "planned"), ("lane", "=", "backfill"), ("spec", ">=", BEGINS)]
        found: dict[NumberedBatch, Sequence[OffsetRange]] = {}
        for chunk in self._files.chunks(["generation", "batch_id", "spec"], wanted):
            for generation, number, text in zip(*chunk.to_pydict().values(), strict=True):
                only = read_only([text])
                if only is not None and generation in by_generation:
                    found[by_generation[generation], number] = only
        return found

    def places(self, event: str) -> Mapping[TopicIdPartition, TopicPartition]:
        """The partitions that the rows of an event name, with their names."""
        found = _Places()
        for chunk in self._chunks([*_NAMES, "partition"], [("event", "=", event)]):
            found.codes(chunk)
        return dict(list(found.known))

    def _chunks(self, columns: Sequence[str], wanted: list[Condition]) -> Iterator[pa.RecordBatch]:
        return self._files.chunks(columns, wanted, as_codes=_NAMES) if self._files else iter(())


class _Places:
    """Gives partitions codes, the same in chunk after chunk."""

    def __init__(self) -> None:
        self.known: dict[tuple[TopicIdPartition, TopicPartition], int] = {}

    def codes(self, chunk: pa.RecordBatch) -> Offsets:
        """The code of each row's partition."""
        topics, topic_names = encoded(chunk, "topic")
        ids, id_names = encoded(chunk, "topic_id")
        partitions = numbers(chunk, "partition")
        keys = (topics * len(id_names) + ids) * (int(partitions.max(initial=0)) + 1) + partitions
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        codes = []
        for row in first.tolist():
            number = int(partitions[row])
            place = TopicIdPartition(id_names[ids[row]], number)
            named = (place, TopicPartition(topic_names[topics[row]], number))
            codes.append(self.known.setdefault(named, len(self.known)))
        found: Offsets = np.array(codes, dtype=np.int64)[inverse]
        return found


class _Chunks:
    """Collects the ranges of chunk after chunk, with the same codes for the same names."""

    def __init__(self, wanted: Numbers, scope: OffsetScope | None) -> None:
        self._sequences = list(wanted)
        # Behind the known sequences, at index -1, one without batches: that of all other rows.
        bounds = [*wanted.values(), (0, -1)]
        self._first, self._last = (np.array(each) for each in zip(*bounds, strict=True))
        self._scope = scope
        self._places = _Places()
        self._found: list[RangeColumns] = []

    def add(self, chunk: pa.RecordBatch) -> None:
        """Keep the ranges of a chunk that are wanted."""
        if not len(chunk):
            return
        columns: dict[str, Any] = {ours: numbers(chunk, theirs) for ours, theirs in _RANGE.items()}
        sequence = self._sequence_codes(chunk)
        known = (columns["number"] >= self._first[sequence]) & (
            columns["number"] <= self._last[sequence]
        )
        place = self._places.codes(chunk)
        if self._scope is not None:
            places = [each for each, _ in self._places.known]
            known &= touched(self._scope, places, place, columns["start"], columns["end"])
        for ours, theirs in _COUNTS.items():
            counted = theirs in chunk.schema.names
            columns[ours] = numbers(chunk, theirs) if counted else np.full(len(chunk), -1)
        self._found.append(RangeColumns(sequence=sequence, place=place, **columns).only(known))

    def columns(self) -> RangeColumns:
        """All that was kept."""
        return RangeColumns.together(self._sequences, list(self._places.known), self._found)

    def _sequence_codes(self, chunk: pa.RecordBatch) -> Offsets:
        """The index of each row's sequence, -1 if it is not a wanted one."""
        lanes, names = encoded(chunk, "lane")
        generations = numbers(chunk, "generation")
        codes = np.full(len(chunk), -1, dtype=np.int64)
        for code, each in enumerate(self._sequences):
            if each.lane in names:
                mine = (lanes == names.index(each.lane)) & (generations == each.generation)
                codes[mine] = code
        return codes
