"""What a sign of life says of a reading: what is true at that moment, and no more."""

from __future__ import annotations

import pytest
from sluice.lake.port import Pace

BATCH = "forward-1-7"


@pytest.mark.parametrize(
    ("pace", "told"),
    [
        # Spark starts, and the executors have told nothing yet: that is no speed.
        (Pace(BATCH, 0, 5_000, 4.2), "no record read yet, after 4 s"),
        (Pace(BATCH, 1, 5_000, 0.5), "1 record read, of 5,000 offsets; 2 per second on average"),
        (
            Pace(BATCH, 4_000, 5_000, 8.0),
            "4,000 records read, of 5,000 offsets; 500 per second on average",
        ),
        # What takes time now is the writing: "0 per second" looked as if it stood still.
        (Pace(BATCH, 5_000, 5_000, 12.3), "all 5,000 offsets read and being written, 12 s"),
        (
            Pace(BATCH, 6_250, 5_000, 10.0, and_rows=True),
            "6,250 records and rows of the table read; 625 per second on average",
        ),
    ],
)
def test_a_pace_in_words(pace: Pace, told: str) -> None:
    assert str(pace) == f"{BATCH}: {told}"


def test_a_bar_never_shows_more_than_the_batch_has() -> None:
    assert Pace(BATCH, 6_250, 5_000, 1.0, and_rows=True).done == 5_000
