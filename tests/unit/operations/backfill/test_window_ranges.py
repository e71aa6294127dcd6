"""Time windows become ranges, whatever happens to the log between two questions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from sluice.operations.backfill.window_ranges import window_range

from tests.unit.builders import log, offsets, partition, state

OFFSETS = st.none() | st.integers(0, 10**6)


@given(OFFSETS, OFFSETS, st.integers(0, 100), st.integers(0, 10**6))
def test_a_log_that_was_cut_back_in_between_gives_no_range_that_is_none(
    first: int | None, behind: int | None, start: int, length: int
) -> None:
    held = state(log(start, start + length))
    found = window_range(partition(), first, behind, held)
    assert found.end == (start + length if behind is None else behind)


def test_a_window_is_a_range_between_its_bounds() -> None:
    held = state(log(10, 90))
    assert window_range(partition(), 20, 40, held) == offsets(20, 40)
    assert window_range(partition(), 20, None, held) == offsets(20, 90)
    assert window_range(partition(), None, None, held) == offsets(90, 90)
    assert window_range(partition(), 40, 20, held) == offsets(20, 20), "cut back to 20 since"
