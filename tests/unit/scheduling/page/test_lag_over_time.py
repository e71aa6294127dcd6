"""The lag over time, as plans and receipts tell it, and what Kafka says now."""

from __future__ import annotations

from dataclasses import replace

from sluice.scheduling.page.lag_over_time import LagPoint, lag_plot, lag_points, spark
from sluice.scheduling.page.time_axis import TimeAxis

from tests.unit.scheduling.page.timed import at, settled, unsettled

# Two batches of one plan, then a night, then one that is not committed yet.
BATCHES = (
    settled(1, (0, 60), 0, 2, stable=100),
    settled(2, (60, 100), 0, 4, stable=100),
    unsettled(3, (100, 500), 600, stable=500),
)

AXIS = TimeAxis(at(0), at(600))


def told(points: list[LagPoint]) -> list[tuple[float, int]]:
    return [((each.at - at(0)).total_seconds() / 60, each.offsets) for each in points]


def test_a_plan_tells_what_was_unread_and_a_landing_what_was_left() -> None:
    assert told(lag_points(BATCHES)) == [
        *((0, 100), (2, 100), (2, 40), (4, 40), (4, 0)),
        (600, 400),
    ]


def test_now_comes_last_unless_it_is_older() -> None:
    assert told(lag_points(BATCHES, LagPoint(at(601), 430)))[-1] == (601, 430)
    assert told(lag_points(BATCHES, LagPoint(at(599), 430)))[-1] == (600, 400)
    assert told(lag_points((), LagPoint(at(0), 7))) == [(0, 7)]


def test_backfills_and_what_a_reset_undid_say_nothing_of_the_lag() -> None:
    again = settled(1, (0, 60), 5, 6, stable=100, lane="backfill")
    undone = settled(3, (100, 500), 7, 8, stable=500, undone=True)
    assert lag_points((*BATCHES[:2], again, undone)) == lag_points(BATCHES[:2])


def test_a_receipt_stands_for_a_commit_that_the_log_has_lost() -> None:
    (batch,) = BATCHES[:1]
    assert told(lag_points((replace(batch, committed=None),))) == [
        *((0, 100), (2.5, 100), (2.5, 40)),
    ]


def test_a_pause_at_night_is_a_long_slope() -> None:
    plot = lag_plot(lag_points(BATCHES), AXIS)
    (line,) = plot.lines
    assert line.path == "M0 76L0.333 76L0.333 90.4L0.667 90.4L0.667 100L100 4"
    assert line.area == f"{line.path}V100H0Z"
    assert plot.top == "400 offsets"
    assert plot.summary == (
        "Lag over time: at most 400 offsets at 2026-11-24 22:00:00 UTC, last 400 offsets"
    )


def test_too_little_is_not_drawn() -> None:
    assert lag_plot([LagPoint(at(0), 3)], AXIS).is_empty
    assert spark(()) is None


def test_a_spark_has_the_same_line_and_words() -> None:
    points = lag_points(BATCHES)
    found = spark(tuple(points))
    assert found is not None
    assert (found.line,) == lag_plot(points, AXIS).lines
    assert found.summary.startswith("Lag over time: at most 400 offsets")


def test_no_lag_at_all_is_a_flat_line() -> None:
    found = spark((LagPoint(at(0), 0), LagPoint(at(1), 0)))
    assert found is not None
    assert found.line.path == "M0 100L100 100"
