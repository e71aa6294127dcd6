"""What comes into Kafka per second, and what batches land per second."""

from __future__ import annotations

import pytest
from sluice.offsets.ranges import TopicPartition
from sluice.scheduling.page.rates import Ends, rate_plots, rates_in, rates_out, told_rate
from sluice.scheduling.page.time_axis import TimeAxis

from tests.unit.builders import partition
from tests.unit.scheduling.page.timed import at, settled

BATCHES = (
    settled(1, (0, 600), 0, 1, stable=600),
    settled(2, (600, 1200), 10, 11, stable=1200, quarantined=60),
    settled(3, (1200, 1800), 20, 21, stable=1800),
)

AXIS = TimeAxis(at(0), at(21))


def ends(minute: float, each: dict[TopicPartition, int]) -> Ends:
    return Ends(at(minute), sum(each.values()), len(each), lambda: each)


def test_what_came_in_is_how_the_log_grew_between_plans() -> None:
    found = rates_in(BATCHES, ends(30, {partition(): 4800, partition(1): 9000}))
    assert [(each.since, each.until) for each in found] == [
        *((at(0), at(10)), (at(10), at(20))),
        (at(20), at(30)),
    ]
    assert [each.per_second for each in found] == [1, 1, 5]


def test_a_log_that_shrank_is_another_one() -> None:
    found = rates_in(BATCHES[:1], ends(10, {partition(): 10}))
    assert [each.per_second for each in found] == [0]


def test_what_went_out_is_all_records_of_a_batch_while_it_was_read() -> None:
    found = rates_out(BATCHES)
    assert [(each.name, each.per_second) for each in found] == [
        *(("forward-1-1", 10), ("forward-1-2", 10)),
        ("forward-1-3", 10),
    ]


def test_both_are_drawn_over_the_same_time() -> None:
    faster = (*BATCHES[:2], settled(3, (1200, 1800), 20, 21, stable=2400))
    into, out = rate_plots(rates_in(faster), rates_out(faster), AXIS)
    assert into.lines[0].path == "M0 52L47.619 52L47.619 4L95.238 4L95.238 4"
    assert [(each.x, each.height) for each in out.boxes] == [
        *((0, 96), (47.619, 96)),
        (95.238, 96),
    ]
    assert out.boxes[1].label == "forward-1-2: 10/s"
    assert "at most 2.00/s, last 2.00/s" in into.summary


def test_one_batch_shows_what_it_landed() -> None:
    (only,) = rate_plots(rates_in(BATCHES[:1]), rates_out(BATCHES[:1]), AXIS)
    assert only.title == "Records out per second"
    assert rate_plots([], [], AXIS) == []


@pytest.mark.parametrize(
    ("found", "told"),
    [(0, "0/s"), (0.001, "under 0.01/s"), (0.25, "0.25/s"), (12345.6, "12,346/s")],
)
def test_a_rate_in_words(found: float, told: str) -> None:
    assert told_rate(found) == told
