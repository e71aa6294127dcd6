"""Skips: plans go around single offsets, each recorded once; what cannot be skipped is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import SettingsError
from sluice.offsets.loss_causes import parse_cause
from sluice.offsets.losses import Loss, Skipped, recorded_skips
from sluice.offsets.ranges import OffsetRange
from sluice.operations.reset.skip_rules import (
    Skip,
    merge_skips,
    one_offset,
    skip_losses,
    still_ahead,
)
from sluice.protocol.plan.cutting import cut_around
from sluice.protocol.plan.next_batches import plan_next

from tests.unit.builders import (
    TOPIC_ID,
    batch,
    history,
    log,
    offsets,
    partition,
    planned,
    spec,
    state,
)

BEFORE = history(batch(offsets(0, 100), offsets(0, 100, 1)))
LOGS = state(log(0, 200), log(0, 150)).logs


def told(*at: int, number: int = 0) -> tuple[Skipped, ...]:
    return skip_losses({partition(number): at[0]}, BEFORE.cursor, LOGS, "me", "it breaks") + tuple(
        Skipped(one_offset(partition(number), each), TOPIC_ID, parse_cause("skipped by me"))
        for each in at[1:]
    )


def ranges(*at: int, **limits: int) -> list[dict[int, tuple[int, int]]]:
    plan = plan_next(spec(**limits), BEFORE, state(*LOGS.values()), told(*at))
    assert plan.losses == told(*at)
    return [
        {
            each.offsets.partition.partition: (each.offsets.start, each.offsets.end)
            for each in found.ranges
        }
        for found in plan.batches
    ]


def test_a_batch_ends_before_the_offset_and_the_next_begins_behind_it() -> None:
    assert ranges(120) == [{0: (100, 120), 1: (100, 100)}, {0: (121, 200), 1: (100, 150)}]


def test_the_first_offset_is_passed_over_at_once() -> None:
    assert ranges(100) == [{0: (101, 200), 1: (100, 150)}]


def test_the_last_offset_leaves_a_cursor_behind_it() -> None:
    assert ranges(199)[-1] == {0: (200, 200), 1: (100, 150)}


def test_neighbours_are_one_hole_and_others_are_holes_of_their_own() -> None:
    assert [each[0] for each in ranges(120, 121, 130)] == [(100, 120), (122, 130), (131, 200)]


def test_a_far_offset_takes_as_many_batches_as_it_needs_and_one_behind_it() -> None:
    found = ranges(180, max_records_per_batch=30, max_batches_per_run=1)
    assert [each[0] for each in found] == [(100, 130), (130, 160), (160, 180), (181, 196)]
    assert [each[1] for each in found] == [*[(100, 100)] * 3, (100, 115)]


@given(
    st.sets(st.tuples(st.integers(0, 1), st.integers(0, 39)), min_size=1, max_size=6),
    st.integers(1, 50),
)
def test_holes_and_batches_tile_each_partition(holes: set[tuple[int, int]], most: int) -> None:
    target = [offsets(0, 40), offsets(0, 40, 1)]
    around = [one_offset(partition(number), offset) for number, offset in holes]
    batches = cut_around(target, around, most)
    for whole in target:
        mine = [each for found in batches for each in found if each.partition == whole.partition]
        assert len(mine) == len(batches)
        cursor = whole.start
        for each in mine:
            passed = {(whole.partition.partition, offset) for offset in range(cursor, each.start)}
            assert cursor <= each.start
            assert passed <= holes
            covered = range(each.start, each.end)
            assert not {(whole.partition.partition, offset) for offset in covered} & holes
            cursor = each.end
        assert all(
            offset < cursor for number, offset in holes if number == whole.partition.partition
        )
    assert all(sum(each.span for each in found) <= most for found in batches)


@pytest.mark.parametrize(
    ("number", "offset", "why"),
    [
        (0, 99, "not committed, found the cursor at 100"),
        (0, 200, "can be read, found the LSO 200"),
        (2, 105, "Kafka holds, found the log start 110"),
    ],
)
def test_what_cannot_be_skipped_is_refused(number: int, offset: int, why: str) -> None:
    logs = state(*LOGS.values(), log(110, 200)).logs
    with pytest.raises(SettingsError, match=why):
        skip_losses({partition(number): offset}, BEFORE.cursor, logs, "me", "it breaks")


def test_an_unknown_partition_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"flights\[9\]: expected a partition"):
        skip_losses({partition(9): 1}, BEFORE.cursor, LOGS, "me", "it breaks")


def test_a_skip_is_known_again_from_its_loss_row() -> None:
    (made,) = told(120)
    assert str(made.cause) == "skipped by me: it breaks"
    row = Loss(made.offsets, made.topic_id, made.cause)
    retention = replace(row, cause=parse_cause("retention or deleted records"))
    assert recorded_skips([retention, row]) == [made]


def test_skips_that_a_committed_batch_has_passed_are_behind() -> None:
    below, ahead, anew = told(100, 120, 130)
    cursor = {partition(): planned(offsets(90, 110))}
    anew = replace(anew, topic_id="another")
    assert still_ahead([below, ahead, anew], cursor) == [ahead]
    assert still_ahead([ahead], {}) == []


def test_an_earlier_skip_is_kept_with_its_cause() -> None:
    early, late = told(120), told(110, 120)
    assert [str(each.cause) for each in merge_skips(early, late)] == [
        "skipped by me: it breaks",
        "skipped by me: it breaks",
    ]
    assert [each.offsets.start for each in merge_skips(early, late)] == [110, 120]


def test_a_preview_is_the_same_while_only_the_end_moves() -> None:
    def preview(stable: int, *at: int) -> str:
        plan = plan_next(spec(), BEFORE, state(log(0, stable), log(0, 150)), told(*at))
        return Skip("flights", plan, told(*at)).preview

    assert preview(200, 120) == preview(300, 120) != preview(200, 121)
    assert preview(200, 120).startswith("1-1-")


def test_a_hole_is_of_its_partition_only() -> None:
    hole = OffsetRange(partition(1), 5, 6)
    assert cut_around([offsets(0, 9)], [hole], 100) == [(offsets(0, 9),)]
