"""Slices hold every partition once, and no more than fits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.ranges import TopicIdPartition
from sluice.operations.verify.slices import slices

places = st.builds(TopicIdPartition, st.sampled_from(["a", "b"]), st.integers(0, 9))


@given(st.dictionaries(places, st.integers(0, 20)), st.integers(1, 30))
def test_every_partition_is_in_one_slice_which_fits_unless_it_is_alone(
    sizes: Mapping[TopicIdPartition, int], at_most: int
) -> None:
    found = list(slices(sizes, at_most))
    assert [place for each in found for place in each] == sorted(sizes)
    assert all(len(each) == 1 or sum(sizes[e] for e in each) <= at_most for each in found)
    assert all(
        sum(sizes[e] for e in one) + sizes[other[0]] > at_most for one, other in pairwise(found)
    )
