"""A scope touches exactly the ranges that contain one of its offsets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition

from tests.unit.builders import TOPIC_ID, offsets

PLACE = TopicIdPartition(TOPIC_ID, 0)


def ranges(least: int = 0) -> st.SearchStrategy[list[OffsetRange]]:
    bounds = st.tuples(st.integers(0, 30), st.integers(least, 6))
    return st.lists(bounds.map(lambda each: offsets(each[0], sum(each))), max_size=6)


def touched(scope: OffsetScope, found: list[OffsetRange]) -> list[bool]:
    starts = np.array([each.start for each in found], dtype=np.int64)
    ends = np.array([each.end for each in found], dtype=np.int64)
    return scope.touches(PLACE, starts, ends).tolist()


@given(ranges(), ranges(least=1))
def test_a_scope_of_ranges_touches_what_shares_an_offset_with_them(
    asked: list[OffsetRange], found: list[OffsetRange]
) -> None:
    wanted = {at for each in asked for at in range(each.start, each.end)}
    expected = [not wanted.isdisjoint(range(each.start, each.end)) for each in found]
    assert touched(OffsetScope.of_ranges({PLACE: asked}), found) == expected


@given(st.sets(st.integers(0, 30), max_size=6), ranges(least=1))
def test_a_scope_of_offsets_touches_what_contains_one_of_them(
    asked: set[int], found: list[OffsetRange]
) -> None:
    scope = OffsetScope.of_offsets({PLACE: np.array(sorted(asked), dtype=np.int64)})
    expected = [not asked.isdisjoint(range(each.start, each.end)) for each in found]
    assert touched(scope, found) == expected


@given(ranges())
def test_everything_of_a_partition_is_touched_even_what_is_empty(found: list[OffsetRange]) -> None:
    assert all(touched(OffsetScope.whole([PLACE]), found))


def test_nothing_of_another_partition_is_touched() -> None:
    scope = OffsetScope.whole([TopicIdPartition(TOPIC_ID, 1)])
    assert touched(scope, [offsets(0, 5)]) == [False]
    assert OffsetScope({}).bounds == (0, 0)
