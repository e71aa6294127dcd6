"""Quarantine shares: which part of each batch went to quarantine, and for which reason. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sluice.offsets.quantities import format_count
from sluice.operations.timeline import TimedBatch
from sluice.scheduling.page.plots import Box, Plot, height_of
from sluice.scheduling.page.time_axis import TimeAxis
from sluice.scheduling.page.waiting_records import APART, WaitingRecords

_WIDTH = 1.0
_GONE = "reason-gone"


def quarantine_plot(
    batches: Sequence[TimedBatch], waiting: WaitingRecords | None, axis: TimeAxis
) -> Plot:
    """Each batch's share over time, stacked by the reasons of the records that wait still."""
    title = "Share in quarantine"
    found = [(each.landed, each) for each in batches if each.landed and each.receipt]
    _, most = max(found, key=lambda each: each[1].figures.share, default=(None, None))
    if most is None or not most.figures.share:
        return Plot(title, f"{title}: none of {format_count(len(found), 'batch', 'batches')}")
    words, largest = _words(waiting), most.figures.share
    boxes = [
        box
        for at, each in found
        if each.figures.quarantined
        for box in _stack(
            each, axis.at(at), each.figures.share / largest, _counts(each, waiting), words
        )
    ]
    kinds = {each.kind for each in boxes}
    total = sum(each.figures.quarantined for _, each in found)
    return Plot(
        title,
        f"{title} of {format_count(len(found), 'batch', 'batches')}, by reason: at most"
        f" {largest:.3%} ({most.batch}), {format_count(total, 'record')} in all",
        f"{largest:.3%}",
        boxes=tuple(boxes),
        keys=tuple(each for each in words.items() if each[0] in kinds),
    )


def _counts(each: TimedBatch, waiting: WaitingRecords | None) -> Mapping[str, int]:
    """How many records of a batch wait, by the kind of box of their reason."""
    found = waiting.by_batch.get(str(each.batch), {}) if waiting else {}
    return {_kind(place): count for place, count in found.items()}


def _words(waiting: WaitingRecords | None) -> Mapping[str, str]:
    """What each kind of box means, from the bottom up."""
    if waiting is None:
        return {_GONE: "for reasons that are not read yet"}
    return {
        **{_kind(at): each.text for at, each in enumerate(waiting.reasons[:APART])},
        _kind(APART): "other reasons",
        _GONE: "replayed, dropped or read again since",
    }


def _kind(place: int) -> str:
    return f"reason-{place + 1}" if place < APART else "reason-other"


def _stack(
    batch: TimedBatch, x: float, height: float, counts: Mapping[str, int], words: Mapping[str, str]
) -> Iterator[Box]:
    """The reasons of one batch; those of records that are gone on top."""
    quarantined = batch.figures.quarantined
    found = {**counts, _GONE: max(0, quarantined - sum(counts.values()))}
    left, bottom = round(min(x, 100 - _WIDTH), 3), 100.0
    for kind, text in words.items():
        if found.get(kind):
            part = height_of(height * found[kind] / quarantined, 1.0)
            bottom -= part
            label = f"{batch.batch}: {format_count(found[kind], 'record')}, {text}"
            yield Box(kind, left, round(bottom, 3), _WIDTH, part, label)
