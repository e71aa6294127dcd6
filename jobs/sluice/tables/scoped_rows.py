"""Scoped rows: a table's rows at some offsets of some partitions, read a chunk at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable

from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import TopicIdPartition
from sluice.tables.chunks import encoded, numbers, places_of, touched
from sluice.tables.data_files import Condition, read_chunks, require_files
from sluice.tables.refusals import reading

_PLACE = ("_topic_id", "_partition")
_KEYS = (*_PLACE, "_offset")


def rows_in(table: DeltaTable, columns: Sequence[str], scope: OffsetScope | None) -> pa.Table:
    """Columns of the rows at the scope's offsets, or of all; statistics skip the files of others.

    Only they are kept in memory. The columns must hold the coordinates.
    Raises TableRefused or CommitUnknown where they cannot be read.
    """
    fields = pa.schema(table.schema().to_arrow())
    with reading(table.table_uri):
        found = [
            chunk.cast(pa.schema([fields.field(name).remove_metadata() for name in columns]))
            for chunk in chunks_at(table, columns, scope)
        ]
    schema = pa.schema([fields.field(name).remove_metadata() for name in columns])
    return pa.Table.from_batches(found, schema=schema)


def count_by_place(
    table: DeltaTable, scope: OffsetScope | None = None
) -> Mapping[TopicIdPartition, int]:
    """How many rows each partition has; -1 or an empty id where a row names none.

    Raises as `rows_in`.
    """
    found: Counter[TopicIdPartition] = Counter()
    with reading(table.table_uri):
        for chunk in chunks_at(table, _PLACE if scope is None else _KEYS, scope):
            found.update(dict(_counted(chunk)))
    return found


def ends_by_place(table: DeltaTable, scope: OffsetScope) -> Mapping[TopicIdPartition, int]:
    """The highest offset, plus 1, that each partition has at the scope's offsets.

    Raises as `rows_in`.
    """
    found: dict[TopicIdPartition, int] = {}
    with reading(table.table_uri):
        for chunk in chunks_at(table, _KEYS, scope):
            place, places = places_of(encoded(chunk, "_topic_id"), numbers(chunk, "_partition"))
            ends = np.zeros(len(places), dtype=np.int64)
            np.maximum.at(ends, place, numbers(chunk, "_offset") + 1)
            for at, end in zip(places, ends.tolist(), strict=True):
                found[at] = max(end, found.get(at, 0))
    return found


def has_rows(table: DeltaTable) -> bool:
    """Whether the table has a row; no more is read than its first ones.

    Raises as `rows_in`.
    """
    with reading(table.table_uri):
        return any(len(chunk) for chunk in chunks_at(table, _PLACE, None))


def require_files_at(table: DeltaTable, scope: OffsetScope) -> None:
    """Raises TableRefused where a file that may have such rows is gone; none is read."""
    with reading(table.table_uri):
        topics = sorted({each.topic_id for each in scope.places})
        require_files(table, [*_conditions(scope), ("_topic_id", "in", topics)])


def chunks_at(
    table: DeltaTable, columns: Sequence[str], scope: OffsetScope | None
) -> Iterator[pa.RecordBatch]:
    """The same, a chunk at a time, as the files have them. Raises what reading them raises."""
    if scope is None:
        yield from read_chunks(table, columns)
        return
    for chunk in read_chunks(table, columns, _conditions(scope)):
        place, places = places_of(encoded(chunk, "_topic_id"), numbers(chunk, "_partition"))
        offsets = numbers(chunk, "_offset")
        yield chunk.filter(pa.array(touched(scope, places, place, offsets, offsets + 1)))


def _conditions(scope: OffsetScope) -> list[Condition]:
    """What skips the files that have no row at these offsets."""
    lowest, behind = scope.bounds
    partitions = sorted({each.partition for each in scope.places})
    found: list[Condition] = [("_partition", "in", partitions)]
    if lowest >= 0:
        found += [("_offset", ">=", lowest), ("_offset", "<", behind)]
    return found


def _counted(chunk: pa.RecordBatch) -> Iterator[tuple[TopicIdPartition, int]]:
    if not len(chunk):
        return
    place, places = places_of(encoded(chunk, "_topic_id"), numbers(chunk, "_partition"))
    counts = pa.array(place).value_counts()
    for each in counts.to_pylist():
        yield places[each["values"]], each["counts"]
