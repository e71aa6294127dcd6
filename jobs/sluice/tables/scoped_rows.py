"""Scoped rows: the coordinates of a table's rows at some offsets, read a chunk at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import TopicIdPartition
from sluice.tables.chunks import encoded, numbers, places_of, touched
from sluice.tables.rows import dataset

_PLACE = ("_topic_id", "_partition")
_KEYS = (*_PLACE, "_offset")


def rows_in(table: DeltaTable, columns: Sequence[str], scope: OffsetScope | None) -> pa.Table:
    """Columns of the rows at the scope's offsets, or of all; statistics skip the files of others.

    Only they are kept in memory. The columns must hold the coordinates.
    """
    fields = pa.schema(table.schema().to_arrow())
    schema = pa.schema([fields.field(name) for name in columns])
    return pa.Table.from_batches(_chunks(table, columns, scope), schema=schema)


def count_rows(
    table: DeltaTable, scope: OffsetScope | None = None
) -> Mapping[TopicIdPartition, int]:
    """How many rows each partition has; -1 or an empty id where a row names none."""
    found: Counter[TopicIdPartition] = Counter()
    for chunk in _chunks(table, _PLACE if scope is None else _KEYS, scope):
        found.update(dict(_counted(chunk)))
    return found


def _chunks(
    table: DeltaTable, columns: Sequence[str], scope: OffsetScope | None
) -> Iterator[pa.RecordBatch]:
    if scope is None:
        yield from dataset(table).to_batches(columns=list(columns))
        return
    lowest, behind = scope.bounds
    bounds = [("_offset", ">=", lowest), ("_offset", "<", behind)]
    mine = [*bounds, ("_partition", "in", sorted({each.partition for each in scope.places}))]
    files = dataset(table, bounds)
    for chunk in files.to_batches(columns=list(columns), filter=pq.filters_to_expression(mine)):
        place, places = places_of(encoded(chunk, "_topic_id"), numbers(chunk, "_partition"))
        offsets = numbers(chunk, "_offset")
        yield chunk.filter(pa.array(touched(scope, places, place, offsets, offsets + 1)))


def _counted(chunk: pa.RecordBatch) -> Iterator[tuple[TopicIdPartition, int]]:
    if not len(chunk):
        return
    place, places = places_of(encoded(chunk, "_topic_id"), numbers(chunk, "_partition"))
    counts = pa.array(place).value_counts()
    for each in counts.to_pylist():
        yield places[each["values"]], each["counts"]
