"""Gaps: the offsets of a batch that have no row, and what Kafka's log says about each of them.

Explained: `control` (a transaction marker), `aborted` (a record of an aborted transaction) and
`compacted` (removed from a topic that compacts). Everything else is unexplained and stops the
pipeline; it counts as `lost` only after a decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, SupportsInt

from sluice.offsets.log_page import AbortedTransaction, LogPage, RecordBatch
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.ranges import OffsetRange
from sluice.offsets.receipts import GapCount, Span


class GapKind(StrEnum):
    """What explains a gap."""

    CONTROL = "control"
    ABORTED = "aborted"
    COMPACTED = "compacted"


@dataclass(frozen=True)
class UnexplainedGap:
    """Offsets `[start, end)` without a row that the log does not account for."""

    start: int
    end: int
    cause: LossKind

    def __str__(self) -> str:
        return f"[{self.start}, {self.end}) {self.cause}"

    @property
    def span(self) -> int:
        """Offsets covered."""
        return self.end - self.start


@dataclass(frozen=True)
class Gaps:
    """The missing offsets of a range: the explained ones counted, the others listed.

    `records` and `quarantined` are offsets that a later batch has read: they have a row by now.
    """

    explained: GapCount
    unexplained: tuple[UnexplainedGap, ...] = ()
    records: int = 0
    quarantined: int = 0

    @classmethod
    def none(cls) -> Gaps:
        """Nothing is missing."""
        return cls(GapCount())

    def all_of_kind(self, kind: LossKind) -> Gaps:
        """The same, every unexplained gap of this kind."""
        gaps = (replace(gap, cause=kind) for gap in self.unexplained)
        return replace(self, unexplained=tuple(gaps))

    def as_lost(self) -> GapCount:
        """The counts after the decision that everything unexplained is lost."""
        return self.explained + GapCount(lost=sum(gap.span for gap in self.unexplained))

    def of_kind(self, kind: LossKind) -> list[Span]:
        """The unexplained ranges of a kind."""
        return [(gap.start, gap.end) for gap in self.unexplained if gap.cause is kind]

    def without(self, spans: Iterable[Span]) -> Gaps:
        """The same without these offsets among the unexplained ones."""
        taken = list(spans)
        left = [
            UnexplainedGap(start, end, gap.cause)
            for gap in self.unexplained
            for start, end in _left((gap.start, gap.end), taken)
        ]
        return replace(self, unexplained=tuple(left))

    def lost_before(self, losses: Iterable[Loss]) -> Gaps:
        """The same with what is recorded as lost already: it is explained by those records.

        What the log holds is lost only where a person gave up just that.
        """
        told = [each for each in losses if each.dropped_from is None]
        given_up = [each for each in told if each.cause.kind is LossKind.PRESENT]
        found = self
        for gap in self.unexplained:
            by = given_up if gap.cause is LossKind.PRESENT else told
            spans = [_overlap((gap.start, gap.end), each.offsets) for each in by]
            found = found.without(span for span in spans if span[0] < span[1])
        told_again = self.as_lost().lost - found.as_lost().lost
        return replace(found, explained=found.explained + GapCount(lost=told_again))


def _left(span: Span, taken: Iterable[Span]) -> Iterator[Span]:
    """What is left of a span."""
    start, end = span
    for first, behind in sorted(taken):
        if behind <= start or end <= first:
            continue
        if start < first:
            yield start, first
        start = behind
    if start < end:
        yield start, end


def _overlap(span: Span, offsets: OffsetRange) -> Span:
    return max(span[0], offsets.start), min(span[1], offsets.end)


class _Stretch(NamedTuple):
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


def explain(missing: Sequence[Span], pages: Iterable[LogPage], *, compacts: bool) -> Gaps:
    """What the log says about the missing offsets of one partition.

    The pages ascend and cover at least the missing ranges; they are read one at a time.
    Raises ValueError when a missing offset is on no page.
    """
    log = (stretch for page in pages for stretch in _stretches(page, compacts))
    counted = dict.fromkeys(GapKind, 0)
    unexplained: list[UnexplainedGap] = []
    for start, end, verdict in _overlaps(missing, log):
        if isinstance(verdict, GapKind):
            counted[verdict] += end - start
        elif unexplained and (unexplained[-1].end, unexplained[-1].cause) == (start, verdict):
            unexplained[-1] = replace(unexplained[-1], end=end)
        else:
            unexplained.append(UnexplainedGap(start, end, verdict))
    return Gaps(
        GapCount(counted[GapKind.CONTROL], counted[GapKind.ABORTED], counted[GapKind.COMPACTED]),
        tuple(unexplained),
    )


def _overlaps(missing: Iterable[Span], log: Iterable[_Stretch]) -> Iterator[_Stretch]:
    """The missing offsets, cut where the verdict changes."""
    spans = iter(missing)
    span = next(spans, None)
    for stretch in log:
        while span and span[0] < stretch.end:
            if span[0] < stretch.start:
                raise ValueError(f"[{span[0]}, {span[1]}) was not read from the log")
            upto = min(span[1], stretch.end)
            yield _Stretch(span[0], upto, stretch.verdict)
            span = (upto, span[1]) if upto < span[1] else next(spans, None)
    if span:
        raise ValueError(f"[{span[0]}, {span[1]}) was not read from the log")


def _stretches(page: LogPage, compacts: bool) -> Iterator[_Stretch]:
    """The page from start to end, in stretches: what a missing offset in each would mean."""
    aborted = _AbortedProducers(page.aborted)
    reached = page.start
    for batch in page.batches:
        yield from _outside_batches(reached, batch.base_offset, page, compacts)
        start = max(reached, batch.base_offset)
        yield from _inside_batch(batch, start, aborted.covers(batch), compacts)
        reached = max(reached, batch.next_offset)
    yield from _outside_batches(reached, page.end, page, compacts)


def _outside_batches(start: int, end: int, page: LogPage, compacts: bool) -> Iterator[_Stretch]:
    """Offsets that no record batch covers."""
    if start >= end:
        return
    kept = min(max(start, page.log_start_offset), end)
    stable = min(max(kept, page.last_stable_offset), end)
    yield _Stretch(start, kept, LossKind.DELETED)
    yield _Stretch(kept, stable, GapKind.COMPACTED if compacts else LossKind.ABSENT)
    yield _Stretch(stable, end, LossKind.BEYOND)


def _inside_batch(
    batch: RecordBatch, start: int, aborted: bool, compacts: bool
) -> Iterator[_Stretch]:
    """Offsets of a record batch, from `start` on."""
    reached, end = start, batch.next_offset
    if batch.is_control or aborted:
        yield _Stretch(start, end, GapKind.CONTROL if batch.is_control else GapKind.ABORTED)
        return
    for hole in missing_ranges((start, end), batch.offsets):
        yield _Stretch(reached, hole[0], LossKind.PRESENT)
        yield _Stretch(*hole, GapKind.COMPACTED if compacts else LossKind.ABSENT)
        reached = hole[1]
    yield _Stretch(reached, end, LossKind.PRESENT)


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
