"""Log verdicts: what a partition's log says about each of some offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple, SupportsInt

from sluice.offsets.log_page import AbortedTransaction, LogPage, RecordBatch
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.receipts import Span


class GapKind(StrEnum):
    """What explains a gap."""

    CONTROL = "control"
    ABORTED = "aborted"
    COMPACTED = "compacted"


# What shows that no reader ever sees a record there.
NEVER_A_RECORD = (GapKind.CONTROL, GapKind.ABORTED)


class Stretch(NamedTuple):
    """Offsets `[start, end)` of which the log says the same."""

    start: int
    end: int
    verdict: GapKind | LossKind


def missing_ranges(span: Span, present: Iterable[SupportsInt]) -> list[Span]:
    """The offsets of `span` that are not in `present`, as ascending ranges.

    `present` ascends and may repeat offsets. An array of millions takes about a second.
    """
    expected, end = span
    missing = []
    for found in map(int, present):
        if found >= end:
            break
        if found > expected:
            missing.append((expected, found))
        expected = max(expected, found + 1)
    if expected < end:
        missing.append((expected, end))
    return missing


def verdicts(
    wanted: Iterable[Span], pages: Iterable[LogPage], *, compacts: bool
) -> Iterator[Stretch]:
    """The wanted offsets of one partition, cut where the verdict changes.

    The pages ascend and cover at least the wanted ranges; they are read one at a time.
    Raises ValueError when a wanted offset is on no page.
    """
    log = (stretch for page in pages for stretch in _stretches(page, compacts))
    spans = iter(wanted)
    span = next(spans, None)
    for stretch in log:
        while span and span[0] < stretch.end:
            if span[0] < stretch.start:
                raise ValueError(f"[{span[0]}, {span[1]}) was not read from the log")
            upto = min(span[1], stretch.end)
            yield Stretch(span[0], upto, stretch.verdict)
            span = (upto, span[1]) if upto < span[1] else next(spans, None)
    if span:
        raise ValueError(f"[{span[0]}, {span[1]}) was not read from the log")


def _stretches(page: LogPage, compacts: bool) -> Iterator[Stretch]:
    """The page from start to end, in stretches: what a missing offset in each would mean."""
    aborted = _AbortedProducers(page.aborted)
    reached = page.start
    for batch in page.batches:
        yield from _outside_batches(reached, batch.base_offset, page, compacts)
        start = max(reached, batch.base_offset)
        yield from _inside_batch(batch, start, aborted.covers(batch), compacts)
        reached = max(reached, batch.next_offset)
    yield from _outside_batches(reached, page.end, page, compacts)


def _outside_batches(start: int, end: int, page: LogPage, compacts: bool) -> Iterator[Stretch]:
    """Offsets that no record batch covers."""
    if start >= end:
        return
    kept = min(max(start, page.log_start_offset), end)
    stable = min(max(kept, page.last_stable_offset), end)
    yield Stretch(start, kept, LossKind.DELETED)
    yield Stretch(kept, stable, GapKind.COMPACTED if compacts else LossKind.ABSENT)
    yield Stretch(stable, end, LossKind.BEYOND)


def _inside_batch(
    batch: RecordBatch, start: int, aborted: bool, compacts: bool
) -> Iterator[Stretch]:
    """Offsets of a record batch, from `start` on."""
    reached, end = start, batch.next_offset
    if batch.is_control or aborted:
        yield Stretch(start, end, GapKind.CONTROL if batch.is_control else GapKind.ABORTED)
        return
    for hole in missing_ranges((start, end), batch.offsets):
        yield Stretch(reached, hole[0], LossKind.PRESENT)
        yield Stretch(*hole, GapKind.COMPACTED if compacts else LossKind.ABSENT)
        reached = hole[1]
    yield Stretch(reached, end, LossKind.PRESENT)


class _AbortedProducers:
    """The producers with an open aborted transaction; ask for the batches of a page in order.

    A producer has one transaction at a time, so its next marker ends the aborted one (KIP-98).
    """

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._ahead = sorted(aborted, key=lambda each: each.first_offset, reverse=True)
        self._open: set[int] = set()

    def covers(self, batch: RecordBatch) -> bool:
        while self._ahead and self._ahead[-1].first_offset < batch.next_offset:
            self._open.add(self._ahead.pop().producer_id)
        if batch.is_control:
            self._open.discard(batch.producer_id)
        return batch.is_transactional and batch.producer_id in self._open
