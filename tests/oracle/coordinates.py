"""The coordinates of a record (topic id, partition, offset) as one integer that sorts by offset."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Keys = np.ndarray
SPAN = 2**40
PARTITIONS = 2**20


class Coordinates:
    def __init__(self) -> None:
        self._codes: dict[tuple[str, int], int] = {}
        self.topics: dict[str, str] = {}

    def code(self, topic_id: str, partition: int) -> int:
        return self._codes.setdefault((topic_id, partition), len(self._codes))

    def key(self, topic_id: str, partition: int, offset: int) -> int:
        return self.code(topic_id, partition) * SPAN + offset

    def keys(self, table: pa.Table) -> Keys:
        """Keys of a table's rows, by its columns `_topic_id`, `_partition`, `_offset`."""
        if table.num_rows == 0:
            return np.empty(0, np.int64)
        ids = pc.fill_null(table.column("_topic_id"), "").combine_chunks().dictionary_encode()
        names = ids.dictionary.to_pylist()
        pairs = ids.indices.to_numpy().astype(np.int64) * PARTITIONS + _integers(
            table, "_partition"
        )
        found, inverse = np.unique(pairs, return_inverse=True)
        codes = [self.code(names[pair // PARTITIONS], pair % PARTITIONS) for pair in found.tolist()]
        return np.asarray(codes, np.int64)[inverse] * SPAN + _integers(table, "_offset")

    def name(self, code: int) -> str:
        topic_id, partition = list(self._codes)[code]
        return f"{self.topics.get(topic_id, topic_id)}[{partition}]"

    def by_partition(self, keys: Keys) -> Iterator[tuple[str, list[int]]]:
        """`topic[partition]` and the offsets of its keys, in order."""
        codes = keys // SPAN
        for code in np.unique(codes).tolist():
            yield self.name(code), np.sort(keys[codes == code] % SPAN).tolist()


def _integers(table: pa.Table, column: str) -> np.ndarray:
    return pc.fill_null(table.column(column), 0).to_numpy().astype(np.int64)


def members(keys: Keys, of: Keys) -> np.ndarray:
    """Which keys are in `of`, which is sorted."""
    if len(of) == 0:
        return np.zeros(len(keys), bool)
    places = np.minimum(np.searchsorted(of, keys), len(of) - 1)
    return of[places] == keys


def repeated(keys: Keys) -> Keys:
    """Each key that occurs more than once, once."""
    values, counts = np.unique(keys, return_counts=True)
    return values[counts > 1]


def some(offsets: list[int]) -> str:
    """A count and the first few offsets, for a message."""
    shown = ", ".join(str(offset) for offset in offsets[:5])
    return f"{len(offsets)} ({shown}{', …' if len(offsets) > 5 else ''})"
