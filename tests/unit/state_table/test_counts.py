"""State counts: their sum, what changed, and how they are told."""

from __future__ import annotations

import pytest
from sluice.state_table.counts import NOTHING, StateCounts

COUNTS = StateCounts(inserted=1000, updated=20, deleted=3, superseded=4, stale=5, unkeyed=6)


def test_the_rows_of_the_state_that_changed_are_three_of_the_six_counts() -> None:
    assert COUNTS.total == 1038
    assert COUNTS.changed == 1023


def test_only_what_was_counted_is_told() -> None:
    assert str(StateCounts(inserted=1000, stale=5)) == "1,000 inserted, 5 stale"
    assert str(NOTHING) == "no row changed"


def test_they_are_made_again_of_their_names() -> None:
    assert StateCounts(**COUNTS.as_dict()) == COUNTS


def test_a_count_below_0_is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match=r"expected no count below 0, found \['stale'\]"):
        StateCounts(stale=-1)
