"""A run's target is cut into batches that touch, are not too large, and treat partitions fairly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.ranges import OffsetRange, span_of
from sluice.protocol.plan.cutting import cut, fair_shares

from tests.unit.builders import offsets

spans = st.lists(st.integers(0, 500), max_size=12)


@pytest.mark.parametrize(
    ("wanted", "capacity", "shares"),
    [
        ([], 10, []),
        ([5], 10, [5]),
        ([50], 10, [10]),
        ([50, 50], 10, [5, 5]),
        ([2, 50], 10, [2, 8]),
        ([50, 2], 10, [8, 2]),
        ([1, 2, 50, 50], 20, [1, 2, 8, 9]),
        ([0, 50], 10, [0, 10]),
        ([4, 4], 100, [4, 4]),
        ([5, 5, 5], 2, [0, 1, 1]),
        ([5, 5], 0, [0, 0]),
    ],
)
def test_what_small_partitions_leave_goes_to_the_large_ones(
    wanted: list[int], capacity: int, shares: list[int]
) -> None:
    assert fair_shares(wanted, capacity) == shares


@given(spans, st.integers(0, 3000))
def test_nothing_of_the_capacity_is_wasted(wanted: list[int], capacity: int) -> None:
    shares = fair_shares(wanted, capacity)
    assert sum(shares) == min(capacity, sum(wanted))
    assert all(0 <= share <= span for share, span in zip(shares, wanted, strict=True))


@given(spans.filter(bool), st.integers(0, 3000))
def test_no_partition_gets_less_than_an_equal_share_or_all_it_has(
    wanted: list[int], capacity: int
) -> None:
    equal = capacity // len(wanted)
    for share, span in zip(fair_shares(wanted, capacity), wanted, strict=True):
        assert share >= min(span, equal)


@given(spans, st.integers(0, 3000))
def test_who_is_cut_short_has_no_less_than_anybody_else_but_for_rounding(
    wanted: list[int], capacity: int
) -> None:
    shares = fair_shares(wanted, capacity)
    short = [share for share, span in zip(shares, wanted, strict=True) if share < span]
    assert all(share >= max(shares) - 1 for share in short)


def test_one_batch_suffices_where_the_limit_is_not_reached() -> None:
    target = [offsets(3, 10), offsets(0, 5, 1)]
    assert cut(target, max_records=12, max_batches=20) == [tuple(target)]


def test_a_busy_partition_does_not_hold_a_quiet_one_back() -> None:
    batches = cut([offsets(0, 100), offsets(50, 53, 1)], max_records=10, max_batches=3)
    assert batches == [
        (offsets(0, 7), offsets(50, 53, 1)),
        (offsets(7, 17), offsets(53, 53, 1)),
        (offsets(17, 27), offsets(53, 53, 1)),
    ]


def test_a_target_without_records_gives_no_batch() -> None:
    assert cut([], 10, 10) == []
    assert cut([offsets(4, 4), offsets(0, 0, 1)], 10, 10) == []


def test_fewer_offsets_than_partitions_in_a_batch_still_lead_to_the_end() -> None:
    target = [offsets(0, 3, at) for at in range(5)]
    batches = cut(target, max_records=2, max_batches=100)
    assert [span_of(batch) for batch in batches] == [2] * 7 + [1]
    assert [each.end for each in batches[-1]] == [3] * 5


targets = st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 500)), max_size=8).map(
    lambda pairs: [offsets(start, start + span, at) for at, (start, span) in enumerate(pairs)]
)


@given(targets, st.integers(1, 400), st.integers(0, 12))
def test_batches_touch_and_obey_their_limits(
    target: list[OffsetRange], max_records: int, max_batches: int
) -> None:
    batches = cut(target, max_records, max_batches)
    assert len(batches) <= max_batches
    position = list(target)
    for batch in batches:
        assert 0 < span_of(batch) <= max_records
        assert [each.partition for each in batch] == [each.partition for each in target]
        assert all(each.start == at.start for each, at in zip(batch, position, strict=True))
        position = [at.after(each) for each, at in zip(batch, position, strict=True)]
    if span_of(position):
        assert len(batches) == max_batches, "something is left although another batch was allowed"


@given(targets, st.integers(1, 400))
def test_nothing_is_left_when_there_are_batches_enough(
    target: list[OffsetRange], max_records: int
) -> None:
    batches = cut(target, max_records, max_batches=10_000)
    assert len(batches) == -(-span_of(target) // max_records), "no batch is emptier than need be"
    for at, whole in enumerate(target):
        pieces = [batch[at] for batch in batches]
        assert sum(piece.span for piece in pieces) == whole.span
        assert not pieces or (pieces[0].start, pieces[-1].end) == (whole.start, whole.end)


@given(targets.filter(bool), st.integers(1, 400))
def test_every_batch_is_fair(target: list[OffsetRange], max_records: int) -> None:
    rest = list(target)
    for batch in cut(target, max_records, max_batches=20):
        equal = max_records // len(target)
        for taken, left in zip(batch, rest, strict=True):
            assert taken.span >= min(left.span, equal)
        rest = [left.after(taken) for taken, left in zip(batch, rest, strict=True)]
