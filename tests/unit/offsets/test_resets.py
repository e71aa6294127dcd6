"""Resets: which one opens a generation, and where it closed the one before."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import OffsetsDamaged, PreviewOutdated
from sluice.offsets.batches import Lane
from sluice.offsets.origin import Origin
from sluice.offsets.resets import CursorMove, Reset, Resets, require_as_previewed
from sluice.tables.reset_rows import read_resets, reset_rows

from tests.unit.builders import (
    CLUSTER,
    offsets,
    planned,
    sequence,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)


def moved(before: int | None, after: int, number: int = 0) -> CursorMove:
    return CursorMove(planned(offsets(after, after, number)), before)


def reset(*cursor: CursorMove, generation: int = 2, closed: int = 3, **more: Any) -> Reset:
    closed_at: dict[Lane, int] = {"forward": closed, "backfill": 0}
    made = Reset("flights", generation, closed_at, cursor, CLUSTER, 9, "a reason")
    return replace(made, **more)


def rows(*events: Reset) -> list[dict[str, Any]]:
    origins = [Origin("run", "me", AT + timedelta(seconds=n)) for n in range(len(events))]
    return [row for each, at in zip(events, origins, strict=True) for row in reset_rows(each, at)]


@given(st.randoms(use_true_random=False))
def test_resets_are_read_back_from_rows_in_any_order(random: Random) -> None:
    first = reset(moved(9, 4), moved(None, 0, 1))
    written = rows(first, replace(first, done=True), reset(moved(7, 0), generation=3, closed=1))
    found = read_resets("flights", random.sample(written, len(written)))
    assert found.by_generation[2] == replace(first, done=True)
    assert found.newest == reset(moved(7, 0), generation=3, closed=1)


def test_of_several_intentions_the_latest_counts_unless_one_was_done() -> None:
    early, late = reset(moved(9, 4), closed=3), reset(moved(12, 4), closed=4)
    assert read_resets("flights", rows(early, late)).newest == late
    done = replace(early, done=True)
    assert read_resets("flights", rows(early, done, late)).newest == done


def test_who_asked_for_a_reset_is_known_also_when_others_finish_it() -> None:
    first = reset(moved(9, 4))
    (asked,), (done,) = rows(first)[:1], rows(replace(first, done=True))[:1]
    found = read_resets("flights", [asked, done | {"actor": "a scheduled run"}]).by_generation[2]
    assert (found.done, found.recorded) == (True, Origin("run", "me", AT))


def test_a_move_to_another_topic_of_the_name_passes_over_what_that_topic_holds() -> None:
    there = planned(offsets(9, 9), topic_id="another", log_start=3)
    move = CursorMove(there, 12, anew=True)
    assert (move.skipped, move.reread) == (6, 0)
    begins = CursorMove(planned(offsets(3, 3), topic_id="another", log_start=3), 12, anew=True)
    assert (begins.skipped, begins.reread) == (0, 0)
    assert not reset(begins).stays, "another topic"


def test_a_move_is_a_skip_or_a_rewind_or_neither() -> None:
    moves = [moved(4, 9), moved(9, 4), moved(5, 5), moved(None, 7)]
    assert [(each.skipped, each.reread) for each in moves] == [(5, 0), (0, 5), (0, 0), (0, 0)]
    assert [reset(each).stays for each in moves] == [False, False, True, True]


def test_what_was_clipped_is_said() -> None:
    cut = CursorMove(planned(offsets(90, 90), log_start=10), 50, requested=120)
    assert cut.clipping == "flights[0]: requested 120, clipped to 90 (Kafka holds [10, 90))"
    assert moved(9, 4).clipping is None


@pytest.mark.parametrize(
    "other",
    [
        {"generation": 3},
        {"closed_at": {"forward": 4, "backfill": 0}},
        {"closed_at": {"forward": 3, "backfill": 1}},
        {"cursor": (moved(9, 5),)},
        {"cursor": (moved(8, 4),)},
        {"cursor": (moved(9, 4), moved(0, 0, 1))},
        {"cursor": (CursorMove(planned(offsets(4, 4), topic_id="another"), 9),)},
    ],
    ids=str,
)
def test_a_preview_names_one_decision(other: dict[str, Any]) -> None:
    shown = reset(moved(9, 4))
    same = replace(shown, reason="another", data_version=12, done=True)
    assert same.preview == shown.preview
    assert replace(shown, **other).preview != shown.preview
    require_as_previewed(shown.preview, same.preview, "")
    with pytest.raises(PreviewOutdated, match=f"expected {shown.preview}, found .*:\n  9 → 5"):
        require_as_previewed(shown.preview, replace(shown, **other).preview, "  9 → 5")


def test_a_target_that_moves_with_the_log_stands_for_itself() -> None:
    """Between preview and execution a busy topic has new records: that changes nothing."""
    shown = replace(reset(moved(9, 50)), towards="to-latest")
    assert replace(shown, cursor=(moved(9, 60),)).preview == shown.preview
    for other in (
        replace(shown, towards="to-latest flights:0"),
        replace(shown, towards=""),
        replace(shown, generation=3),
        replace(shown, closed_at={"forward": 4, "backfill": 0}),
        replace(shown, cursor=(moved(10, 50),)),
        replace(shown, cursor=(moved(9, 50), moved(0, 0, 1))),
        replace(shown, cursor=(CursorMove(planned(offsets(50, 50), topic_id="another"), 9),)),
    ):
        assert other.preview != shown.preview


def test_a_row_for_each_partition_and_lane_with_cursors_on_the_forward_ones() -> None:
    found = rows(reset(moved(9, 4), moved(5, 5, 1)))
    by_lane = {(row["lane"], row["partition"]): row for row in found}
    assert len(found) == len(by_lane) == 4
    assert (by_lane["forward", 0]["cursor_before"], by_lane["forward", 0]["cursor_after"]) == (9, 4)
    assert "cursor_before" not in by_lane["backfill", 0]
    assert {(row["generation"], row["event"]) for row in found} == {(2, "reset_intended")}
    assert [by_lane[lane, 1]["closed_at"] for lane in ("forward", "backfill")] == [3, 0]


def test_a_closed_sequence_ends_where_the_reset_says() -> None:
    known = Resets({2: reset(moved(9, 4))})
    assert known.closed_at(sequence()) == 3
    assert known.closed_at(sequence(lane="backfill")) == 0
    with pytest.raises(OffsetsDamaged, match="expected the reset that closed it"):
        known.closed_at(sequence(generation=2))


def test_a_generation_ends_earlier_where_the_table_was_put_back_behind_its_reset() -> None:
    second, third = reset(moved(9, 4)), reset(moved(7, 0), generation=3, closed=5)
    resets = Resets({2: second, 3: third})
    held = {sequence(): 2, sequence(generation=2): 0, sequence(lane="backfill"): 4}
    assert [(each.generation, each.closed_at["forward"]) for each in resets.lowered(held)] == [
        (2, 2),
        (3, 0),
    ]
    assert list(resets.lowered({sequence(): 3, sequence(generation=2): 8})) == []


def test_a_generation_ends_where_the_table_says_also_behind_its_reset() -> None:
    second, third = reset(moved(9, 4)), reset(moved(7, 0), generation=3, closed=5)
    resets = Resets({2: second, 3: third})
    held = {sequence(): 2, sequence(generation=2): 8, sequence(lane="backfill"): 0}
    assert [
        (each.generation, each.closed_at["forward"]) for each in resets.closed_elsewhere(held)
    ] == [
        (2, 2),
        (3, 8),
    ]
    assert list(resets.closed_elsewhere({sequence(): 3, sequence(generation=2): 5})) == []


def test_of_several_that_were_done_the_latest_counts() -> None:
    """A RESTORE takes batches away, and another one may bring them back."""
    done = reset(moved(9, 4), done=True)
    lowered = replace(done, closed_at={"forward": 1, "backfill": 0})
    for written in ((done, lowered), (lowered, done)):
        found = read_resets("flights", rows(*written)).by_generation[2]
        assert found.closed_at == written[-1].closed_at


def test_what_is_lowered_counts_only_once_the_reset_that_lowers_it_is_done() -> None:
    """Else bringing the right table back would undo batches that are there."""
    second = reset(moved(9, 4), done=True)
    (lowered,) = Resets({2: second}).lowered({sequence(): 1})
    third = reset(moved(7, 0), generation=3, closed=0, earlier=(lowered,))
    found = read_resets("flights", rows(second, third))
    assert found.by_generation[2].closed_at["forward"] == 3
    assert found.newest is not None
    assert [each.closed_at["forward"] for each in found.newest.earlier] == [1]
    done = replace(found.newest, done=True)
    found = read_resets("flights", rows(second, third, done))
    assert found.by_generation[2].closed_at["forward"] == 1
    assert found.newest == done
