"""Quantities read as a person would write them, and an unknown one says that it is unknown."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sluice.offsets.quantities import format_count, format_duration, format_size


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 offsets"), (1, "1 offset"), (1234, "1,234 offsets")]
)
def test_a_count_has_the_right_plural(number: int, text: str) -> None:
    assert format_count(number, "offset") == text


def test_a_plural_may_have_a_form_of_its_own() -> None:
    assert format_count(2, "batch", "batches") == "2 batches"
    assert format_count(None, "batch", "batches") == "an unknown number of batches"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (600, "600 B"),
        (12_345, "12.3 kB"),
        (999_999, "1 MB"),
        (1_234_567, "1.23 MB"),
        (None, "an unknown size"),
    ],
)
def test_a_size_has_three_digits_and_a_decimal_unit(size: int | None, text: str) -> None:
    assert format_size(size) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(days=1, hours=2, seconds=0.6), "1 day, 2:00:01"),
        (timedelta(days=364, hours=23), "364 days, 23:00:00"),
        (timedelta(days=365), "1.0 years"),
        (timedelta(days=1105, hours=3), "3.0 years"),
    ],
)
def test_a_duration_is_told_to_the_second_and_a_long_one_in_years(
    duration: timedelta, text: str
) -> None:
    assert format_duration(duration) == text
