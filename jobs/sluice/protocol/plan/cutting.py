"""Cutting a run's target into batches: none too large, no busy partition starves another."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.offsets.ranges import OffsetRange, TopicPartition, merged, span_of, without


def fair_shares(spans: Sequence[int], capacity: int) -> list[int]:
    """Divide a capacity over partitions, max-min fair: no small span gives way to a large one.

    Returns one share per span, in the same order; their sum is `min(capacity, sum(spans))`.
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
    """Cut the target into at most `max_batches` batches of at most `max_records` offsets each.

    Every batch lists every partition, even as `[x, x)`, so that one batch is a whole cursor.
    A target without records gives no batch; what `max_batches` leaves out waits for the next run.
    """
    batches: list[tuple[OffsetRange, ...]] = []
    rest = list(target)
    while span_of(rest) and len(batches) < max_batches:
        shares = fair_shares([each.span for each in rest], max_records)
        batch = tuple(each.first(share) for each, share in zip(rest, shares, strict=True))
        rest = [each.after(taken) for each, taken in zip(rest, batch, strict=True)]
        batches.append(batch)
    return batches


def cut_apart(target: Sequence[OffsetRange], max_records: int) -> list[tuple[OffsetRange, ...]]:
    """Cut a target that may have holes into batches of at most `max_records` offsets.

    A batch has at most one range of a partition, and no empty one. The oldest offsets come first.
    """
    queues: dict[TopicPartition, list[OffsetRange]] = {}
    for each in reversed(merged(target)):
        queues.setdefault(each.partition, []).append(each)
    batches: list[tuple[OffsetRange, ...]] = []
    while any(queues.values()):
        heads = [ranges.pop() for ranges in queues.values() if ranges]
        (taken,) = cut(heads, max_records, max_batches=1)
        for head, part in zip(heads, taken, strict=True):
            rest = head.after(part)
            if rest.span:
                queues[head.partition].append(rest)
        batches.append(tuple(sorted(part for part in taken if part.span)))
    return batches


def cut_around(
    target: Sequence[OffsetRange], holes: Sequence[OffsetRange], max_records: int
) -> list[tuple[OffsetRange, ...]]:
    """Cut the target up to its holes; the last batch goes on after them.

    Every batch lists every partition. Up to the holes, only partitions with a hole are read, so
    that few batches are needed; the rest waits for the next run.
    """
    queues = [_pieces_between(each, holes) for each in target]
    batches: list[tuple[OffsetRange, ...]] = []
    while any(len(pieces) > 1 for pieces in queues):
        heads = [pieces[0] if len(pieces) > 1 else pieces[0].first(0) for pieces in queues]
        (batch,) = cut(heads, max_records, max_batches=1)
        for pieces, taken in zip(queues, batch, strict=True):
            pieces[0] = pieces[0].after(taken)
            if len(pieces) > 1 and not pieces[0].span:
                pieces.pop(0)
        batches.append(batch)
    rest = [pieces[0] for pieces in queues]
    return [*batches, *(cut(rest, max_records, max_batches=1) or [tuple(rest)])]


def _pieces_between(whole: OffsetRange, holes: Sequence[OffsetRange]) -> list[OffsetRange]:
    """The pieces of a range before, between and after its holes; the last one may be empty."""
    pieces = without([whole], holes)
    behind = max([whole.start, *(e.end for e in holes if e.partition == whole.partition)])
    if not pieces or pieces[-1].end < behind:
        pieces.append(OffsetRange(whole.partition, behind, behind))
    return pieces
