"""Stored rows: the coordinates of a table's rows, grouped by partition and topic id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.proof.evidence import NO_ROWS, Offsets, Read, Rows


class Place(NamedTuple):
    """A partition of a topic id, as rows name it; -1 where a row names none."""

    topic_id: str
    partition: int


@dataclass(frozen=True)
class Stored:
    """Offsets of a table's rows by place, and for each the number of its `_batch` in `names`."""

    names: Sequence[str]
    places: Mapping[Place, tuple[Offsets, Offsets]]

    def rows(self, place: Place, reads: Sequence[Read]) -> Rows:
        """A place's rows, each with the place of its batch among the reads."""
        if place not in self.places:
            return NO_ROWS
        known = {read.batch: number for number, read in enumerate(reads)}
        numbers = np.array([known.get(name, -1) for name in self.names], dtype=np.int64)
        offsets, names = self.places[place]
        return Rows(offsets, numbers[names])


def stored(coordinates: pa.Table) -> Stored:
    """Group rows by place, all in one pass. A coordinate that is null becomes -1."""
    ids, topic_ids = _encoded(coordinates["_topic_id"])
    names, batches = _encoded(coordinates["_batch"])
    partitions, offsets = (_numbers(coordinates[name]) for name in ("_partition", "_offset"))
    order = np.lexsort((partitions, topic_ids))
    topic_ids, partitions = topic_ids[order], partitions[order]
    offsets, batches = offsets[order], batches[order]
    changes = np.flatnonzero((np.diff(topic_ids) != 0) | (np.diff(partitions) != 0)) + 1
    starts = [0, *changes.tolist()] if len(order) else []
    ends = [*starts[1:], len(order)]
    places = {
        Place(ids[topic_ids[start]], int(partitions[start])): (
            offsets[start:end],
            batches[start:end],
        )
        for start, end in zip(starts, ends, strict=bool(starts))
    }
    return Stored(names, places)


def _encoded(column: pa.ChunkedArray) -> tuple[list[str], Offsets]:
    encoded = pc.fill_null(column, "").dictionary_encode().combine_chunks()
    numbers: Offsets = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return encoded.dictionary.to_pylist(), numbers


def _numbers(column: pa.ChunkedArray) -> Offsets:
    numbers: Offsets = pc.fill_null(column, -1).to_numpy().astype(np.int64)
    return numbers
