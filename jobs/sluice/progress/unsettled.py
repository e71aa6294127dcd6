"""Unsettled batches of closed generations: a recovery writes no receipt for what Kafka holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.resets import Resets
from sluice.tables.offsets_snapshot import OffsetsSnapshot


def unsettled_before(
    snapshot: OffsetsSnapshot, resets: Resets, newest: BatchSequence
) -> Iterator[Batch]:
    """The batches that count and have no receipt, of the lane's earlier generations, in order."""
    for generation, reset in sorted(resets.by_generation.items()):
        closed = replace(newest, generation=generation - 1)
        settled, last = snapshot.settled(closed), reset.closed_at[closed.lane]
        if generation <= newest.generation and settled < last:
            yield from snapshot.batches(closed, settled + 1, last=last)
