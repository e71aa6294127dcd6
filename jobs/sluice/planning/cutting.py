"""Cutting a run's target into batches: none too large, no partition held back by a busier one."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.planning.ranges import OffsetRange, span_of


def fair_shares(spans: Sequence[int], capacity: int) -> list[int]:
    """Divide a capacity over partitions, max-min fair: nobody gets less than an equal share needs.

    Returns one share per span, in the same order; together `min(capacity, sum(spans))`.
    """
    shares = [0] * len(spans)
    smallest_first = sorted(range(len(spans)), key=lambda index: spans[index])
    for left, index in zip(range(len(spans), 0, -1), smallest_first, strict=True):
        shares[index] = min(spans[index], capacity // left)
        capacity -= shares[index]
    return shares


def cut(
    target: Sequence[OffsetRange], max_records: int, max_batches: int
) -> list[tuple[OffsetRange, ...]]:
    """Cut the target into batches of at most `max_records` offsets, at most `max_batches` of them.

    Every batch lists every partition, `[x, x)` included, so that one batch is a whole cursor.
    A target without records gives no batch; what `max_batches` leaves over is for the next run.
    """
    batches: list[tuple[OffsetRange, ...]] = []
    rest = list(target)
    while span_of(rest) and len(batches) < max_batches:
        shares = fair_shares([each.span for each in rest], max_records)
        batch = tuple(each.first(share) for each, share in zip(rest, shares, strict=True))
        rest = [each.after(taken) for each, taken in zip(rest, batch, strict=True)]
        batches.append(batch)
    return batches
