"""Row offsets: a table's rows as offsets, each with the batch that wrote it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """The offsets of rows, and for each the place among the reads of the batch that wrote it.

    The place is -1 where that batch is none of the partition's reads.
    """

    offsets: Offsets
    reads: Offsets

    def only(self, mask: Mask) -> Rows:
        """Those that the mask selects."""
        return Rows(self.offsets[mask], self.reads[mask])

    def and_(self, other: Rows) -> Rows:
        """All of both."""
        both = (self.offsets, other.offsets), (self.reads, other.reads)
        return Rows(*map(np.concatenate, both))


NO_ROWS = Rows(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
