"""Batch sizes: how much space batches take in the data table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BatchSizes:
    """How much some batches added to the table: non-empty ranges, rows, bytes and files."""

    ranges: int
    rows: int
    size: int
    files: int

    def __add__(self, other: BatchSizes) -> BatchSizes:
        return BatchSizes(
            self.ranges + other.ranges,
            self.rows + other.rows,
            self.size + other.size,
            self.files + other.files,
        )
