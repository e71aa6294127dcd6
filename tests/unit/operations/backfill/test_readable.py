"""What is read again lies between log start and cursor; everything else is named, and left."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import ResetNeeded
from sluice.offsets.history import LaneHistory
from sluice.offsets.ranges import OffsetRange, merged, span_of, without
from sluice.offsets.resets import undone_backfills
from sluice.operations.backfill.readable import (
    ClippedRanges,
    RequestedRange,
    clip_to_held,
    plan_reread,
    require_read_logs,
)
from sluice.protocol.plan.cutting import cut_apart
from sluice.protocol.plan.log_changes import Contradiction
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.builders import (
    batch,
    history,
    log,
    offsets,
    partition,
    planned,
    sequence,
    spec_keys,
    state,
)

FORWARD = history(batch(offsets(60, 80), offsets(0, 10, 1)))
CURSOR = {partition(0): planned(offsets(60, 80)), partition(1): planned(offsets(0, 10, 1))}


def ranges(partitions: int = 3, highest: int = 60) -> st.SearchStrategy[list[OffsetRange]]:
    bounds = st.tuples(st.integers(0, highest), st.integers(0, highest)).map(sorted)
    one = st.builds(lambda b, p: offsets(b[0], b[1], p), bounds, st.integers(0, partitions - 1))
    return st.lists(one, max_size=8)


def covered(found: list[OffsetRange]) -> set[tuple[int, int]]:
    return {(each.partition.partition, at) for each in found for at in range(each.start, each.end)}


def said(*wanted: RequestedRange, start: int = 0) -> tuple[list[str], list[str]]:
    found = clip_to_held(wanted, CURSOR, state(log(start, 100), log(0, 50)))
    return list(map(str, found.ranges)), [f"{e.offsets} {e.reason[:12]}" for e in found.left_out]


@given(ranges(), ranges())
def test_what_is_without_the_taken_covers_exactly_the_rest(
    wanted: list[OffsetRange], taken: list[OffsetRange]
) -> None:
    left = without(wanted, taken)
    assert covered(left) == covered(wanted) - covered(taken)
    assert left == merged(left)


@given(ranges(), st.integers(1, 40))
def test_batches_cover_each_wanted_offset_once(wanted: list[OffsetRange], most: int) -> None:
    batches = cut_apart(wanted, most)
    parts = [each for piece in batches for each in piece]
    assert span_of(parts) == len(covered(parts))
    assert covered(parts) == covered(wanted)
    for piece in batches:
        assert 0 < span_of(piece) <= most
        assert len({each.partition for each in piece}) == len(piece)
        assert all(each.span for each in piece)


def test_what_lies_between_log_start_and_cursor_is_read_again() -> None:
    assert said(RequestedRange(offsets(10, 70))) == (["flights[0] [10, 70)"], [])
    assert said(RequestedRange(offsets(10, 40)), RequestedRange(offsets(30, 50))) == (
        ["flights[0] [10, 50)"],
        [],
    )


def test_what_is_gone_and_what_is_to_come_are_left_out() -> None:
    assert said(RequestedRange(offsets(10, 90)), start=20) == (
        ["flights[0] [20, 80)"],
        ["flights[0] [10, 20) Kafka no lon", "flights[0] [80, 90) it is above "],
    )
    assert said(RequestedRange(offsets(10, 15)), start=20) == (
        [],
        ["flights[0] [10, 15) Kafka no lon"],
    )
    assert said(RequestedRange(offsets(85, 90))) == ([], ["flights[0] [85, 90) it is above "])
    assert said(RequestedRange(offsets(5, 9, 2))) == ([], ["flights[2] [5, 9) Kafka no lon"])


def test_offsets_of_an_earlier_topic_of_the_name_are_gone() -> None:
    assert said(RequestedRange(offsets(0, 5), "another-id")) == (
        [],
        ["flights[0] [0, 5) Kafka no lon"],
    )


@pytest.mark.parametrize(
    "found",
    [
        state(log(0, 100, topic_id="created-anew"), log(0, 50)),
        state(log(0, 70), log(0, 50)),
        state(log(0, 100, epoch=2), log(0, 50)),
        state(log(0, 100), log(0, 50), cluster="another"),
    ],
)
def test_another_log_is_never_read_over_good_rows(found: object) -> None:
    with pytest.raises(ResetNeeded):
        require_read_logs(FORWARD, CURSOR, found, [])  # type: ignore[arg-type]


def test_a_log_that_only_lost_its_beginning_is_the_same_log() -> None:
    require_read_logs(FORWARD, CURSOR, state(log(90, 100), log(0, 50)), [])


def test_changes_that_the_state_of_a_log_hides_are_told_with_the_others() -> None:
    hidden = Contradiction(partition(1), "one record batch", "another")
    with pytest.raises(ResetNeeded) as refused:
        require_read_logs(FORWARD, CURSOR, state(log(0, 39), log(0, 50)), [hidden])
    first, second, *_ = str(refused.value).splitlines()
    assert first.startswith("flights[0]: expected an end offset")
    assert second == "flights[1]: expected one record batch, found another"


def test_unfinished_batches_are_not_planned_twice() -> None:
    spec = PipelineSpec.model_validate(spec_keys(max_records_per_batch=100))
    unfinished = (batch(offsets(20, 30), number=4),)
    lane = LaneHistory(sequence(lane="backfill"), planned=4, settled=3, batches=unfinished)
    plan = plan_reread(
        spec, lane, unfinished, ClippedRanges((offsets(10, 50),)), state(log(5, 100))
    )
    assert [str(each) for each in plan.batches] == ["backfill-1-5", "backfill-1-6"]
    assert [str(r.offsets) for each in plan.batches for r in each.ranges] == [
        "flights[0] [10, 20)",
        "flights[0] [30, 50)",
    ]
    assert {each.mode for each in plan.batches} == {"replace"}
    assert plan.batches[0].ranges[0].log_start_offset == 5
    assert not plan_reread(
        spec, lane, unfinished, ClippedRanges((offsets(22, 30),)), state(log(5, 100))
    )


def replayed(start: int, end: int, *only: int, topic_id: str | None = None) -> RequestedRange:
    meant = tuple(offsets(each, each + 1) for each in only)
    return RequestedRange(offsets(start, end), topic_id, only=meant)


def test_of_a_replay_what_is_meant_is_of_the_topic_id_that_was_quarantined() -> None:
    wanted = [replayed(1, 2, 1, topic_id="another-id"), replayed(0, 5, 0, 4)]
    found = clip_to_held(wanted, CURSOR, state(log(0, 100), log(0, 50)))
    assert found.only == (offsets(0, 1), offsets(4, 5))
    assert [str(each) for each in found.left_out] == [
        "flights[0] [1, 2): not read again: Kafka no longer holds it; the rows that are there stay"
    ]


def test_what_an_unfinished_replay_does_not_change_is_planned() -> None:
    spec = PipelineSpec.model_validate(spec_keys(max_records_per_batch=100))
    unfinished = (replace(batch(offsets(3, 9), number=1), only=(offsets(3, 4), offsets(8, 9))),)
    lane = LaneHistory(sequence(lane="backfill"), planned=1, settled=0, batches=unfinished)
    found = ClippedRanges((offsets(0, 10),))
    plan = plan_reread(spec, lane, unfinished, found, state(log(0, 100)))
    again = [str(r.offsets) for each in plan.batches for r in each.ranges]
    assert again == ["flights[0] [0, 3)", "flights[0] [4, 8)", "flights[0] [9, 10)"]


def test_a_replay_that_a_restore_has_undone_is_named_by_what_it_changed() -> None:
    undone = replace(batch(offsets(3, 6)), only=(offsets(3, 4), offsets(5, 6)))
    (line,) = undone_backfills("flights", [undone])
    assert "--range 'flights[0] [3, 4)' --range 'flights[0] [5, 6)'" in str(line)
