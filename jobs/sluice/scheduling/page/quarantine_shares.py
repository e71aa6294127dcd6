"""Quarantine shares: which part of each batch went to quarantine, and for which reason. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sluice.offsets.error_groups import ErrorGroup
from sluice.offsets.quantities import format_count
from sluice.offsets.receipts import Receipt
from sluice.operations.timeline import TimedBatch
from sluice.scheduling.page.plots import Box, Plot, height_of
from sluice.scheduling.page.time_axis import TimeAxis

# So many reasons have a colour of their own, the most frequent ones.
NAMED = 4
_WIDTH = 1.0
_OTHERS, _GONE = "reason-other", "reason-gone"


def quarantine_plot(
    batches: Sequence[TimedBatch], groups: Sequence[ErrorGroup], axis: TimeAxis
) -> Plot:
    """Each batch's share over time, stacked by the reasons of the records that wait still."""
    title = "Share in quarantine"
    found = [(e.landed, e.receipt) for e in batches if e.landed and e.receipt]
    shares = [(at, receipt, share_of(receipt)) for at, receipt in found]
    largest = max((share for _, _, share in shares), default=0.0)
    if not largest:
        return Plot(title, f"{title}: none of {format_count(len(found), 'batch', 'batches')}")
    waiting = _by_batch(groups)
    boxes = [
        box
        for at, receipt, share in shares
        if share
        for box in _stack(at, receipt, share / largest, waiting.get(str(receipt.batch), {}), axis)
    ]
    kinds = {each.kind for each in boxes}
    most, _, share = max(
        ((receipt, at, share) for at, receipt, share in shares), key=lambda each: each[2]
    )
    total = sum(receipt.quarantined for _, receipt in found)
    return Plot(
        title,
        f"{title} of {format_count(len(found), 'batch', 'batches')}, by reason: at most"
        f" {share:.3%} ({most.batch}), {format_count(total, 'record')} in all",
        f"{share:.3%}",
        boxes=tuple(boxes),
        keys=tuple(each for each in _keys(groups) if each[0] in kinds),
    )


def share_of(receipt: Receipt) -> float:
    """The part of a batch's records that went to quarantine; 0 without records."""
    read = receipt.records + receipt.quarantined
    return receipt.quarantined / read if read else 0.0


def _by_batch(groups: Sequence[ErrorGroup]) -> Mapping[str, Counter[str]]:
    """How many records of each batch wait, by the kind of their reason."""
    found: dict[str, Counter[str]] = {}
    for at, group in enumerate(groups):
        for row in group.rows:
            found.setdefault(row.batch, Counter())[_kind(at)] += 1
    return found


def _kind(at: int) -> str:
    return f"reason-{at + 1}" if at < NAMED else _OTHERS


def _keys(groups: Sequence[ErrorGroup]) -> Iterator[tuple[str, str]]:
    yield from ((_kind(at), group.text) for at, group in enumerate(groups[:NAMED]))
    yield _OTHERS, "other reasons"
    yield _GONE, "replayed, dropped or read again since"


def _stack(
    at: datetime, receipt: Receipt, height: float, waiting: Mapping[str, int], axis: TimeAxis
) -> Iterator[Box]:
    """The reasons of one batch, from the bottom up; those of records that are gone last."""
    words = dict(_keys(()))
    gone = max(0, receipt.quarantined - sum(waiting.values()))
    bottom = 100.0
    for kind, count in [*sorted(waiting.items()), (_GONE, gone)]:
        if count:
            part = height_of(height * count / receipt.quarantined, 1.0)
            bottom -= part
            told = f"{receipt.batch}: {format_count(count, 'record')}"
            label = f"{told}, {words[kind]}" if kind in words else told
            x = round(min(axis.at(at), 100 - _WIDTH), 3)
            yield Box(kind, x, round(bottom, 3), _WIDTH, part, label)
