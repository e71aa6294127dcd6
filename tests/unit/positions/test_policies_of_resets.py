"""Moves of a cursor: where a reset leads, clipped to what can be read; what is refused."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import ResetNeeded, SettingsError
from sluice.offsets.notation import parse_positions
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.resets import CursorMove
from sluice.positions.policies import AtGroup, Shifted
from sluice.positions.position import (
    Situation,
    clip_to_log,
    cursor_at,
    keep_cursor,
    require_partitions,
    require_rows_below,
)

from tests.unit.builders import log, offsets, partition, planned, state
from tests.unit.positions.answers import Answers

LOGS = state(log(10, 90, 100), log(0, 50)).logs
CURSOR = {partition(): planned(offsets(20, 40)), partition(1): planned(offsets(50, 50, 1))}


def places(found: Mapping[TopicPartition, CursorMove]) -> dict[int, tuple[int, int | None]]:
    return {
        each.partition: (goes.after.offsets.start, goes.requested) for each, goes in found.items()
    }


@pytest.mark.parametrize(
    ("asked", "after", "said"),
    [(10, 10, None), (50, 50, None), (90, 90, None), (9, 10, 9), (-3, 10, -3), (95, 90, 95)],
)
def test_an_offset_is_clipped_to_log_start_and_lso(
    asked: int, after: int, said: int | None
) -> None:
    assert places(clip_to_log({partition(): asked}, LOGS)) == {0: (after, said)}


@given(st.integers(-200, 200))
def test_whatever_is_asked_for_can_be_read_from_there(asked: int) -> None:
    goes = clip_to_log({partition(): asked}, LOGS)[partition()]
    assert 10 <= goes.after.offsets.start == goes.after.offsets.end <= 90
    assert (goes.requested is None) == (10 <= asked <= 90)


def test_a_destination_belongs_to_the_log_as_it_is_now() -> None:
    anew = state(log(3, 9, topic_id="another", epoch=7)).logs
    goes = clip_to_log({partition(): 5}, anew)[partition()]
    expected = planned(offsets(5, 5), topic_id="another", log_start=3, stable=9, epoch=7)
    assert (goes, goes.requested) == (CursorMove(expected), None)


def test_a_partition_that_kafka_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(
        SettingsError, match=r"flights\[7\]: expected .* flights\[0\], flights\[1\]"
    ):
        clip_to_log(parse_positions(["flights[7]=1"]), LOGS)
    require_partitions(LOGS, LOGS)


@pytest.mark.parametrize(("by", "expected"), [(0, {0: 40, 1: 50}), (-30, {0: 10, 1: 20})])
def test_a_shift_counts_from_the_cursor(by: int, expected: dict[int, int]) -> None:
    found = Shifted(by).wanted(Situation(LOGS, CURSOR), Answers())
    assert {each.partition: offset for each, offset in found.items()} == expected


def test_a_shift_leaves_out_what_has_no_cursor_or_no_log() -> None:
    one = Situation(LOGS, {partition(): CURSOR[partition()]})
    assert Shifted(1).wanted(one, Answers()) == {partition(): 41}
    gone = Situation(LOGS, {partition(0, "gone"): planned(offsets(0, 9, topic="gone"))})
    assert Shifted(1).wanted(gone, Answers()) == {}


def test_a_shift_over_a_topic_that_was_created_anew_is_refused() -> None:
    anew = state(log(0, 90, topic_id="another"), log()).logs
    with pytest.raises(ResetNeeded, match=r"flights\[0\]: expected topic id .* found another"):
        Shifted(-5).wanted(Situation(anew, CURSOR), Answers())


def test_a_group_leads_where_it_stands_and_leaves_the_rest() -> None:
    now, old = Situation(LOGS), AtGroup("old")
    assert old.wanted(now, Answers({0: 12})) == {partition(): 12}
    with pytest.raises(SettingsError, match="group 'old': expected committed offsets of"):
        old.wanted(now, Answers())


def test_after_a_restore_nobody_passes_over_the_rows_that_it_took() -> None:
    cursor = {partition(): planned(offsets(40, 40))}
    held = {partition(): cursor_at(cursor[partition()], 30)}
    for offset in (10, 30):
        require_rows_below("p", clip_to_log({partition(): offset}, LOGS), cursor, held)
    require_rows_below("p", keep_cursor(held), cursor, held)
    with pytest.raises(ResetNeeded, match=r"rows of \[30, 40\) .* found 60\n`sluice reset p --t"):
        require_rows_below("p", clip_to_log({partition(): 60}, LOGS), cursor, held)
    require_rows_below("p", clip_to_log({partition(): 60}, LOGS), cursor, cursor)
