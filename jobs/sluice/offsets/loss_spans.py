"""Loss spans: how many offsets losses are of, however often they tell them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sluice.offsets.losses import Loss
from sluice.offsets.ranges import TopicIdPartition
from sluice.offsets.row_offsets import Offsets


def offsets_lost(losses: Iterable[Loss]) -> int:
    """How many offsets the losses are of: one that several of them tell counts once."""
    told: dict[TopicIdPartition, list[tuple[int, int]]] = {}
    for each in losses:
        told.setdefault(each.place, []).append((each.offsets.start, each.offsets.end))
    return sum(_covered(np.array(spans, dtype=np.int64)) for spans in told.values())


def _covered(spans: Offsets) -> int:
    """How many offsets lie in at least one `[start, end)`."""
    starts, ends = spans[np.argsort(spans[:, 0])].T
    reached = np.maximum.accumulate(ends)
    # What a span has beyond all that begin before it.
    begins = np.maximum(starts, np.concatenate([starts[:1], reached[:-1]]))
    return int(np.maximum(0, ends - begins).sum())
