"""Every missing offset is explained from the log, or named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.log_page import AbortedTransaction, LogPage, RecordBatch
from sluice.offsets.log_verdicts import GapKind, missing_ranges
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.receipts import GapCount, Span
from sluice.protocol.settle.gaps import Gaps, UnexplainedGap

from tests.unit.builders import explain, offsets


def records(
    start: int, end: int, *, producer: int = -1, kept: Sequence[int] | None = None
) -> RecordBatch:
    offsets = range(start, end) if kept is None else kept
    return RecordBatch(start, end, False, producer >= 0, producer, offsets)


def marker(at: int, producer: int) -> RecordBatch:
    return RecordBatch(at, at + 1, True, True, producer, range(at, at + 1))


def page(
    start: int,
    end: int,
    *batches: RecordBatch,
    aborted: Sequence[tuple[int, int]] = (),
    log_start: int = 0,
    stable: int = 1_000_000,
) -> LogPage:
    found = [AbortedTransaction(*each) for each in aborted]
    return LogPage(start, end, batches, found, log_start, stable)


def unexplained(gaps: Gaps) -> list[tuple[int, int, LossKind]]:
    return [(gap.start, gap.end, gap.cause) for gap in gaps.unexplained]


def test_a_marker_is_a_control_gap() -> None:
    log = page(0, 6, records(0, 5, producer=7), marker(5, 7))
    assert explain([(5, 6)], [log], compacts=False) == Gaps(GapCount(control=1))


def test_records_of_an_aborted_transaction_are_aborted_up_to_the_marker() -> None:
    log = page(
        0,
        9,
        records(0, 4, producer=7),
        marker(4, 7),
        records(5, 8, producer=7),
        marker(8, 7),
        aborted=[(7, 0)],
    )
    gaps = explain([(0, 5), (8, 9)], [log], compacts=False)
    assert gaps == Gaps(GapCount(control=2, aborted=4))


def test_after_the_abort_marker_the_same_producer_commits_again() -> None:
    batches = records(0, 2, producer=7), marker(2, 7), records(3, 6, producer=7)
    log = page(0, 6, *batches, aborted=[(7, 0)])
    gaps = explain([(0, 6)], [log], compacts=False)
    assert gaps.explained == GapCount(control=1, aborted=2)
    assert unexplained(gaps) == [(3, 6, LossKind.PRESENT)]


def test_a_transaction_aborted_after_the_page_began_before_it() -> None:
    """The list names it by a first offset below the page; its marker is not on the page."""
    log = page(50, 60, records(45, 60, producer=7), aborted=[(7, 3)])
    assert explain([(50, 60)], [log], compacts=False) == Gaps(GapCount(aborted=10))


def test_interleaved_producers_are_told_apart() -> None:
    log = page(
        0,
        8,
        records(0, 2, producer=7),
        records(2, 4, producer=8),
        records(4, 6),
        marker(6, 7),
        marker(7, 8),
        aborted=[(8, 2)],
    )
    gaps = explain([(2, 4), (6, 8)], [log], compacts=False)
    assert gaps == Gaps(GapCount(control=2, aborted=2))


def test_a_plain_record_among_aborted_ones_is_not_aborted() -> None:
    log = page(0, 4, records(0, 2, producer=7), records(2, 3), marker(3, 7), aborted=[(7, 0)])
    gaps = explain([(0, 4)], [log], compacts=False)
    assert unexplained(gaps) == [(2, 3, LossKind.PRESENT)]


def test_compaction_explains_what_is_absent_inside_and_between_batches() -> None:
    log = page(0, 20, records(0, 10, kept=(1, 8)), records(15, 20))
    absent = [(0, 1), (2, 8), (9, 15)]
    assert explain(absent, [log], compacts=True) == Gaps(GapCount(compacted=13))
    assert unexplained(explain(absent, [log], compacts=False)) == [
        (0, 1, LossKind.ABSENT),
        (2, 8, LossKind.ABSENT),
        (9, 15, LossKind.ABSENT),
    ]


def test_a_batch_that_compaction_emptied_is_still_told_by_its_header() -> None:
    emptied = RecordBatch(3, 4, True, True, 7, ())
    log = page(0, 4, records(0, 3, producer=7, kept=()), emptied)
    assert explain([(0, 4)], [log], compacts=True) == Gaps(GapCount(control=1, compacted=3))


def test_compaction_never_explains_a_record_that_is_there() -> None:
    log = page(0, 10, records(0, 10, kept=(3, 4, 7)))
    gaps = explain([(0, 10)], [log], compacts=True)
    assert gaps.explained == GapCount(compacted=7)
    assert unexplained(gaps) == [(3, 5, LossKind.PRESENT), (7, 8, LossKind.PRESENT)]


@pytest.mark.parametrize("compacts", [False, True])
def test_below_the_log_start_nothing_can_be_told(compacts: bool) -> None:
    log = [page(0, 5, log_start=5), page(5, 8, records(5, 8), log_start=5)]
    assert unexplained(explain([(2, 5)], log, compacts=compacts)) == [(2, 5, LossKind.DELETED)]


@pytest.mark.parametrize("compacts", [False, True])
def test_beyond_the_end_of_the_log_nothing_can_be_told(compacts: bool) -> None:
    log = page(3, 9, records(3, 6), stable=6)
    assert unexplained(explain([(6, 9)], [log], compacts=compacts)) == [(6, 9, LossKind.BEYOND)]


def test_a_gap_over_two_pages_is_named_once() -> None:
    log = [page(0, 5, records(0, 5)), page(5, 9, records(5, 9))]
    assert unexplained(explain([(3, 7)], log, compacts=False)) == [(3, 7, LossKind.PRESENT)]


@pytest.mark.parametrize("missing", [(0, 2), (6, 7), (11, 12)])
def test_an_offset_that_was_not_read_is_refused(missing: Span) -> None:
    log = [page(2, 5, records(2, 5)), page(8, 10, records(8, 10))]
    with pytest.raises(ValueError, match="was not read"):
        explain([missing], log, compacts=False)


def test_nothing_missing_reads_nothing() -> None:
    assert explain([], [], compacts=False) == Gaps(GapCount())


def test_an_unexplained_gap_can_be_accepted() -> None:
    gaps = Gaps(GapCount(control=2), (UnexplainedGap(3, 7, LossKind.PRESENT),))
    assert gaps.as_lost() == GapCount(control=2, lost=4)
    assert gaps.as_lost().total == 6


def lost(start: int, end: int, cause: LossCause, **fields: Any) -> Loss:
    return Loss(offsets(start, end), "id", cause, **fields)


def test_what_was_recorded_as_lost_stays_lost_when_it_is_read_again() -> None:
    gaps = Gaps(GapCount(control=1), (UnexplainedGap(3, 9, LossKind.ABSENT),))
    before = [lost(0, 5, LossCause(LossKind.DELETED)), lost(7, 8, LossCause(LossKind.ABSENT))]
    again = gaps.lost_before(before)
    assert again.explained == GapCount(control=1, lost=3)
    assert unexplained(again) == [(5, 7, LossKind.ABSENT), (8, 9, LossKind.ABSENT)]
    assert again.as_lost() == gaps.as_lost()


def test_a_drop_from_quarantine_explains_no_gap() -> None:
    gaps = Gaps(GapCount(), (UnexplainedGap(3, 4, LossKind.ABSENT),))
    dropped = LossCause(LossKind.DROPPED, "ana", "no use")
    assert gaps.lost_before([lost(3, 4, dropped, dropped_from="forward-1-1")]) == gaps


@pytest.mark.parametrize(
    ("cause", "explained"),
    [
        (LossCause(LossKind.PRESENT, "ana", "no use"), True),
        (LossCause(LossKind.ABSENT, "ana", "a disk died"), False),
        (LossCause(LossKind.DELETED), False),
        (LossCause(LossKind.UNCOUNTED, "ana", "why"), False),
    ],
)
def test_what_the_log_holds_again_is_lost_only_if_a_person_gave_up_just_that(
    cause: LossCause, explained: bool
) -> None:
    gaps = Gaps(GapCount(), (UnexplainedGap(3, 7, LossKind.PRESENT),))
    assert bool(gaps.lost_before([lost(0, 9, cause)]).unexplained) is not explained


FEW: dict[str, Any] = {"max_size": 4}
spans = st.tuples(st.integers(0, 30), st.integers(1, 8)).map(lambda each: (each[0], sum(each)))


@given(st.lists(spans, **FEW), st.lists(spans, **FEW))
def test_without_leaves_exactly_the_other_offsets(holes: list[Span], taken: list[Span]) -> None:
    gaps = Gaps(GapCount(), tuple(UnexplainedGap(*each, LossKind.ABSENT) for each in holes))
    left = [
        sorted(set(range(*each)) - {at for one in taken for at in range(*one)}) for each in holes
    ]
    found = [at for gap in gaps.without(taken).unexplained for at in range(gap.start, gap.end)]
    assert found == [at for each in left for at in each]


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (3, 3), (4, 3)])
def test_values_are_checked(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="is not a"):
        RecordBatch(start, end, False, False, -1, ())
    with pytest.raises(ValueError, match="is not a page"):
        page(start, end)


def brute_missing(span: Span, present: set[int]) -> set[int]:
    return set(range(*span)) - present


@given(st.integers(0, 40), st.integers(0, 60), st.sets(st.integers(0, 110)))
def test_missing_ranges_are_the_complement(start: int, length: int, present: set[int]) -> None:
    span = (start, start + length)
    ranges = missing_ranges(span, sorted(present))
    assert {at for each in ranges for at in range(*each)} == brute_missing(span, present)
    assert all(left[1] < right[0] for left, right in pairwise(ranges))
    assert all(left < right for left, right in ranges)
    assert missing_ranges(span, np.array(sorted(present), dtype=np.int64)) == ranges


@given(st.lists(st.integers(0, 30)))
def test_a_repeated_offset_hides_no_gap(present: list[int]) -> None:
    ranges = missing_ranges((0, 31), sorted(present))
    assert {at for each in ranges for at in range(*each)} == brute_missing((0, 31), set(present))


@pytest.mark.patient
def test_missing_ranges_of_millions_cost_little() -> None:
    present = np.delete(np.arange(5_000_000), [17, 18, 4_000_000])
    assert missing_ranges((0, 5_000_000), present) == [(17, 19), (4_000_000, 4_000_001)]


@dataclass
class SyntheticLog:
    """A log written action by action, with the truth about every offset kept beside it."""

    batches: list[RecordBatch] = field(default_factory=list)
    truth: list[GapKind | LossKind] = field(default_factory=list)
    aborted: list[tuple[int, int, int]] = field(default_factory=list)
    open: dict[int, list[int]] = field(default_factory=dict)

    def append(self, producer: int, count: int, kept: set[int]) -> None:
        start = len(self.truth)
        offsets = [start + at for at in range(count) if at in kept]
        for at in range(start, start + count):
            self.truth.append(LossKind.PRESENT if at in offsets else LossKind.ABSENT)
        if producer >= 0:
            self.open.setdefault(producer, []).extend(range(start, start + count))
        self.batches.append(records(start, start + count, producer=producer, kept=offsets))

    def end(self, producer: int, commit: bool) -> None:
        if not (offsets := self.open.pop(producer, [])):
            return
        at = len(self.truth)
        self.truth.append(GapKind.CONTROL)
        self.batches.append(marker(at, producer))
        if not commit:
            self.aborted.append((producer, offsets[0], at))
            for each in offsets:
                self.truth[each] = GapKind.ABORTED

    def hole(self, count: int) -> None:
        self.truth.extend([LossKind.ABSENT] * count)

    def page(self, start: int, end: int) -> LogPage:
        """As a broker answers: whole batches from `start` on, and the transactions they meet."""
        batches = [each for each in self.batches if start < each.next_offset <= end]
        met = [
            (producer, first)
            for producer, first, last in self.aborted
            if last >= start and first < end
        ]
        return page(start, end, *batches, aborted=met)

    def pages(self, spans: Sequence[Span]) -> list[LogPage]:
        """Pages of at least the spans, ending where batches end, with jumps in between."""
        borders = [each.next_offset for each in self.batches] + [len(self.truth)]
        pages: list[LogPage] = []
        for start, end in spans:
            while not pages or pages[-1].end < end:
                at = max(start, pages[-1].end if pages else 0)
                pages.append(self.page(at, min(each for each in borders if each > at)))
        return pages


WRITES = st.tuples(
    st.just("append"), st.sampled_from([-1, 7, 8, 9]), st.integers(1, 5), st.sets(st.integers(0, 4))
)
ENDS = st.tuples(st.just("end"), st.sampled_from([7, 8, 9]), st.booleans())
HOLES = st.tuples(st.just("hole"), st.integers(1, 4))


@given(
    st.lists(WRITES | ENDS | HOLES, min_size=1, max_size=40),
    st.booleans(),
    st.data(),
)
def test_the_explanation_is_the_truth_of_every_offset(
    actions: list[tuple[object, ...]], compacts: bool, data: st.DataObject
) -> None:
    log = SyntheticLog()
    for action, *arguments in actions:
        getattr(log, str(action))(*arguments)
    for producer in (7, 8, 9):
        log.end(producer, commit=False)
    everything = range(len(log.truth))
    missing = data.draw(st.sets(st.sampled_from(everything) if everything else st.nothing()))
    spans = missing_ranges((0, len(everything)), sorted(set(everything) - missing))
    gaps = explain(spans, log.pages(spans), compacts=compacts)
    found = {at: gap.cause for gap in gaps.unexplained for at in range(gap.start, gap.end)}
    truth = [log.truth[at] for at in sorted(missing)]
    if compacts:
        truth = [GapKind.COMPACTED if each is LossKind.ABSENT else each for each in truth]
    assert gaps.explained == GapCount(
        *(truth.count(each) for each in (GapKind.CONTROL, GapKind.ABORTED, GapKind.COMPACTED))
    )
    assert found == {
        at: each
        for at, each in zip(sorted(missing), truth, strict=True)
        if isinstance(each, LossKind)
    }
    assert gaps.as_lost().total == len(missing)
