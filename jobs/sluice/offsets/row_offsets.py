"""Row offsets: a table's rows as offsets, each with the batch that wrote it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """The offsets of rows, and for each the index of its batch among the partition's reads.

    The index is -1 where that batch is not one of the reads.
    """

    offsets: Offsets
    reads: Offsets

    def only(self, mask: Mask) -> Rows:
        """The rows that the mask selects."""
        return Rows(self.offsets[mask], self.reads[mask])

    def and_(self, other: Rows) -> Rows:
        """The rows of both."""
        both = (self.offsets, other.offsets), (self.reads, other.reads)
        return Rows(*map(np.concatenate, both))


NO_ROWS = Rows(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
