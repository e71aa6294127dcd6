"""Where moments are on the axis of time, and which are labelled: a night's pause is a long way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from sluice.scheduling.page.time_axis import TimeAxis

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_place_is_in_proportion_to_the_time() -> None:
    axis = TimeAxis.over([NOON, NOON + 10 * HOUR, NOON + HOUR])
    assert [axis.at(NOON + each * HOUR) for each in (0, 1, 5, 10)] == [0, 10, 50, 100]
    assert (axis.at(NOON - HOUR), axis.at(NOON + 11 * HOUR)) == (0, 100)


@pytest.mark.parametrize(
    ("length", "labels"),
    [
        (timedelta(seconds=4), ["12:00:00", "12:00:01", "12:00:02", "12:00:03", "12:00:04"]),
        (timedelta(minutes=50), ["12:00", "12:15", "12:30", "12:45"]),
        (20 * HOUR, ["11-24 12:00", "11-24 18:00", "11-25 00:00", "11-25 06:00"]),
        (timedelta(days=6), ["11-25", "11-27", "11-29"]),
        (timedelta(days=900), ["2026-12-18", "2027-12-18", "2028-12-17"]),
    ],
)
def test_round_moments_in_utc_are_labelled(length: timedelta, labels: list[str]) -> None:
    start = NOON.astimezone(timezone(timedelta(hours=7)))
    found = TimeAxis(start, NOON + length).ticks
    assert [each.label for each in found] == labels
    assert len(found) <= 5
    assert all(0 <= each.x <= 100 for each in found)
    assert all(a.x < b.x for a, b in pairwise(found))


def test_labels_at_the_ends_stay_within_the_picture() -> None:
    anchors = [each.anchor for each in TimeAxis(NOON, NOON + 4 * HOUR).ticks]
    assert anchors == ["start", "middle", "middle", "middle", "end"]


def test_one_moment_is_a_second_long() -> None:
    assert TimeAxis.over([NOON]).end == NOON + timedelta(seconds=1)
    assert TimeAxis.over([NOON]).told == "2026-11-24 12:00:00 to 2026-11-24 12:00:01 UTC"
