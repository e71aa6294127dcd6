"""Batches as spans over time: waiting for each other, landed by another run, undone, in doubt."""

from __future__ import annotations

from dataclasses import replace

from sluice.scheduling.page.batch_spans import batch_spans, begun
from sluice.scheduling.page.time_axis import TimeAxis

from tests.unit.scheduling.page.timed import at, settled, unsettled


def test_a_batch_begins_when_the_one_before_it_has_landed() -> None:
    batches = (
        settled(1, (0, 60), 0, 2, stable=100),
        settled(2, (60, 100), 0, 4, stable=100),
        settled(4, (60, 100), 0, 9, stable=100),
        settled(1, (0, 60), 1, 3, stable=100, lane="backfill"),
    )
    assert begun(batches) == {
        "forward-1-1": at(0),
        "forward-1-2": at(2),
        "forward-1-4": at(0),
        "backfill-1-1": at(1),
    }


def test_a_batch_is_a_span_to_its_commit_and_one_to_its_receipt() -> None:
    plot = batch_spans((settled(1, (0, 60), 0, 2, stable=100),), TimeAxis(at(0), at(2.5)))
    reading, settling = plot.boxes
    assert (reading.kind, reading.x, reading.width) == ("reading", 0, 80)
    assert (settling.kind, settling.x, settling.width) == ("settling", 80, 20)
    assert reading.label == (
        "forward-1-1: planned 2026-11-24 12:00:00, landed 2026-11-24 12:02:00 after 0:02:00,"
        " settled 2026-11-24 12:02:30"
    )
    assert [kind for kind, _ in plot.keys] == ["reading", "settling"]
    assert plot.rows == ("forward",)


def test_what_waits_lasts_until_now() -> None:
    plot = batch_spans((unsettled(1, (0, 60), 0, 100),), TimeAxis(at(0), at(10)))
    (box,) = plot.boxes
    assert (box.kind, box.x, box.width) == ("waiting", 0, 100)
    assert "1 batch, 1 not committed yet" in plot.summary


def test_both_lanes_have_a_row_and_short_spans_are_seen() -> None:
    plot = batch_spans(
        (
            settled(1, (0, 60), 0, 2, stable=100),
            settled(1, (0, 60), 10_000, 10_000, stable=100, lane="backfill"),
        ),
        TimeAxis(at(0), at(10_000)),
    )
    assert plot.rows == ("forward", "backfill")
    assert {each.y < 50 for each in plot.boxes if "forward" in each.label} == {True}
    assert {each.y >= 50 for each in plot.boxes if "backfill" in each.label} == {True}
    assert all(each.width >= 0.4 and each.x + each.width <= 100 for each in plot.boxes)


def test_what_went_another_way_is_marked_and_said() -> None:
    taken_over = settled(1, (0, 60), 0, 2, stable=100, run="run2")
    undone = settled(2, (60, 100), 3, 4, stable=100, undone=True)
    doubtful = replace(settled(3, (60, 100), 5, 6, stable=100), doubt=True)
    plot = batch_spans((taken_over, undone, doubtful), TimeAxis(at(0), at(10)))
    assert [each.kind for each in plot.boxes] == [
        *("again", "settling"),
        "undone",
        *("doubt", "settling"),
    ]
    assert plot.boxes[0].label.endswith("by another run than planned it")
    assert plot.summary.startswith(
        "3 batches, 1 landed by another run than planned them, 1 undone by a reset, 1 in doubt"
    )


def test_without_batches_there_is_nothing() -> None:
    assert batch_spans((), TimeAxis(at(0), at(1))).is_empty
