"""Filtered offsets are packed to the bit, and read back as they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.filtered import NOTHING_FILTERED, FilteredOffsets, as_key, told

from tests.unit.builders import offsets


@given(st.sets(st.integers(7, 60)), st.integers(20, 70))
def test_what_is_packed_is_read_back(left_out: set[int], end: int) -> None:
    within = offsets(5, end)
    found = FilteredOffsets.of([within], {within.partition: np.array(sorted(left_out), np.int64)})
    again = FilteredOffsets.read(found.as_dict())
    assert again == found
    assert again.within(within).tolist() == sorted(each for each in left_out if each < end)
    assert bool(again) == any(each < end for each in left_out)


def test_nothing_left_out_is_nothing_told() -> None:
    within = offsets(0, 5)
    assert FilteredOffsets.of([within], {}) == NOTHING_FILTERED == FilteredOffsets.read(None)
    assert NOTHING_FILTERED.as_dict() == {} == as_key(0)
    assert (told(0), told(1234), as_key(2)) == ("", ", 1,234 filtered", {"filtered": 2})


def test_a_million_offsets_take_a_bit_each_at_most() -> None:
    within = offsets(0, 1_000_000)
    some = np.flatnonzero(np.random.default_rng(7).random(1_000_000) < 0.5)
    found = FilteredOffsets.of([within], {within.partition: some})
    assert len(found.packed[within.partition]) < 1_000_000 / 8 * 1.4


@pytest.mark.parametrize("text", ["no base64", "AAAA", "eJwDAAAAAAE="])
def test_text_of_others_is_not_read(text: str) -> None:
    within = offsets(0, 9)
    with pytest.raises(ValueError, match="expected a bit for each offset"):
        FilteredOffsets({within.partition: text}).within(within)
