"""Stored coordinates: those of a table's rows, grouped by topic id and partition."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sluice.offsets.ranges import TopicIdPartition
from sluice.offsets.row_offsets import NO_ROWS, Offsets, Rows
from sluice.tables.chunks import encoded, numbers

COORDINATES = pa.schema(
    [
        ("_topic_id", pa.string()),
        ("_partition", pa.int32()),
        ("_offset", pa.int64()),
        ("_batch", pa.string()),
    ]
)
KEYS = ["_topic_id", "_partition", "_offset"]


@dataclass(frozen=True)
class StoredCoordinates:
    """A table's offsets by topic id and partition, each with the index of its batch in `names`."""

    names: Sequence[str]
    places: Mapping[TopicIdPartition, tuple[Offsets, Offsets]]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(len(offsets) for offsets, _ in self.places.values())

    def without(self, names: Collection[str]) -> StoredCoordinates:
        """The same without the rows of some batches."""
        left = np.array([name not in names for name in self.names], dtype=bool)
        kept = {
            place: (offsets[left[batches]], batches[left[batches]])
            for place, (offsets, batches) in self.places.items()
        }
        return StoredCoordinates(self.names, {at: it for at, it in kept.items() if len(it[0])})

    def offsets(self, place: TopicIdPartition) -> Offsets:
        """The offsets of a partition's rows, in no order."""
        return self.places[place][0] if place in self.places else NO_ROWS.offsets

    def rows(self, place: TopicIdPartition, batches: Sequence[str]) -> Rows:
        """A partition's rows, each with the index of its batch among these; -1 for any other."""
        if place not in self.places:
            return NO_ROWS
        known = {batch: number for number, batch in enumerate(batches)}
        numbers = np.array([known.get(name, -1) for name in self.names], dtype=np.int64)
        offsets, names = self.places[place]
        return Rows(offsets, numbers[names])


@dataclass(frozen=True)
class Landing:
    """A committed batch in its table: the version it landed in, and the coordinates of its rows.

    `doubt` says why no receipt may be written of it without a decision. Then the version is the
    last one that it can be, and `rows` is None where they can no longer be read.
    """

    version: int
    rows: StoredCoordinates | None
    doubt: str = ""


def group_coordinates(coordinates: pa.Table) -> StoredCoordinates:
    """Group rows by topic id and partition in one pass. A null coordinate becomes -1."""
    topic_ids, ids = encoded(coordinates, "_topic_id")
    batches, names = encoded(coordinates, "_batch")
    partitions, offsets = (numbers(coordinates, name) for name in ("_partition", "_offset"))
    order = np.lexsort((partitions, topic_ids))
    topic_ids, partitions = topic_ids[order], partitions[order]
    offsets, batches = offsets[order], batches[order]
    changes = np.flatnonzero((np.diff(topic_ids) != 0) | (np.diff(partitions) != 0)) + 1
    starts = [0, *changes.tolist()] if len(order) else []
    ends = [*starts[1:], len(order)]
    places = {
        TopicIdPartition(ids[topic_ids[start]], int(partitions[start])): (
            offsets[start:end],
            batches[start:end],
        )
        for start, end in zip(starts, ends, strict=bool(starts))
    }
    return StoredCoordinates(names, places)
