"""Gaps: the offsets of a batch that have no row, and what Kafka's log says about each of them.

Explained: `control` (a transaction marker), `aborted` (a record of an aborted transaction) and
`compacted` (removed from a topic that compacts). Everything else is unexplained and stops the
pipeline; it counts as `lost` only after a decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sluice.offsets.log_verdicts import GapKind, Stretch
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.ranges import OffsetRange
from sluice.offsets.receipts import GapCount, Span


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


def gaps_of(found: Iterable[Stretch]) -> Gaps:
    """The missing offsets counted and listed, from what the log says about each."""
    counted = dict.fromkeys(GapKind, 0)
    unexplained: list[UnexplainedGap] = []
    for start, end, verdict in found:
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
