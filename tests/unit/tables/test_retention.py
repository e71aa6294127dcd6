"""A table's retention: read as Delta writes it, and refused below the longest run."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import SettingsError
from sluice.settings import LONGEST_RUN
from sluice.tables.retention import retention


@pytest.mark.parametrize(
    ("written", "hours"),
    [
        (None, 168),
        ("interval 7 days", 168),
        ("INTERVAL 1 week", 168),
        ("2 days 3 hours", 51),
        ("interval '36' hours", 36),
        ("interval 6 hours", 6),
        ("interval 360 minutes", 6),
    ],
)
def test_it_is_read_as_delta_writes_it(written: str | None, hours: int) -> None:
    assert retention("flights", written) == timedelta(hours=hours)


@pytest.mark.parametrize("written", ["interval 0 hours", "interval 5 hours 59 minutes", "1 second"])
def test_below_the_longest_run_it_is_refused(written: str) -> None:
    with pytest.raises(SettingsError, match=r"(?s)flights.*at least 6 hours.*ALTER TABLE") as found:
        retention("flights", written)
    assert repr(written) in str(found.value)


@pytest.mark.parametrize(
    "written", ["", "soon", "interval", "interval 1 month", "interval -7 days", "7", "7 days ago"]
)
def test_what_is_no_interval_is_refused(written: str) -> None:
    with pytest.raises(SettingsError, match="expected an interval"):
        retention("flights", written)


@given(st.integers(0, 10**6))
def test_whatever_is_accepted_is_long_enough(minutes: int) -> None:
    try:
        assert retention("flights", f"interval {minutes} minutes") >= LONGEST_RUN
    except SettingsError:
        assert timedelta(minutes=minutes) < LONGEST_RUN
