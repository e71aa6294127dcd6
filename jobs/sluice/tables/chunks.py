"""Chunks of a table as arrays: names become codes, and a scope chooses rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import TopicIdPartition
from sluice.offsets.row_offsets import Mask, Offsets


def numbers(chunk: pa.RecordBatch | pa.Table, name: str) -> Offsets:
    """A column of numbers; -1 for null."""
    found: Offsets = pc.fill_null(chunk[name], -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def encoded(chunk: pa.RecordBatch | pa.Table, name: str) -> tuple[Offsets, list[str]]:
    """A column of text as indexes into the names that occur; null is the empty name."""
    column = chunk[name]
    if not pa.types.is_dictionary(column.type):
        column = pc.fill_null(column, "").dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    codes: Offsets = column.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, column.dictionary.to_pylist()


def places_of(
    topic_ids: tuple[Offsets, list[str]], partitions: Offsets
) -> tuple[Offsets, list[TopicIdPartition]]:
    """Each row's place as an index into those that occur."""
    codes, names = topic_ids
    width = int(partitions.max(initial=-1)) + 2
    keys, inverse = np.unique(codes * width + partitions + 1, return_inverse=True)
    return inverse, [
        TopicIdPartition(names[key // width], key % width - 1) for key in keys.tolist()
    ]


def touched(
    scope: OffsetScope,
    places: Sequence[TopicIdPartition],
    place: Offsets,
    starts: Offsets,
    ends: Offsets,
) -> Mask:
    """Which rows' ranges the scope touches; `place` are indexes into the places."""
    order = np.argsort(place, kind="stable")
    bounds = np.searchsorted(place[order], np.arange(len(places) + 1))
    found = np.zeros(len(place), dtype=bool)
    for code, each in enumerate(places):
        rows = order[bounds[code] : bounds[code + 1]]
        if len(rows):
            found[rows] = scope.touches(each, starts[rows], ends[rows])
    return found
