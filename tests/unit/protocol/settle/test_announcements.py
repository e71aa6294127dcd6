"""Announcements: at least once whatever dies, and not again once one is stored."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.batches import BatchReference, BatchSequence, Lane
from sluice.offsets.receipts import receipt_without_gaps
from sluice.offsets.resets import LANES
from sluice.protocol.settle.announcements import (
    MOST_BATCHES,
    MOST_RANGES,
    Announced,
    Announcement,
    announced_so_far,
    announcement_of,
    due,
    sequences_since,
)

from tests.unit.builders import batch, offsets, sequence

NO_WORK = BatchReference(sequence())
FORWARD, BACKFILL = sequence(), sequence(lane="backfill")


def announced(forward: int, backfill: int = 0, generation: int = 1) -> Announced:
    return Announced("table", generation, forward, backfill)


def names(before: Announced, settled: dict[BatchSequence, int]) -> list[str]:
    return [each.batch(number) for each, number in due(before, settled)]


def test_only_what_is_above_the_newest_announcement_is_due() -> None:
    told = [announced(3).as_dict(), announced(5, 1).as_dict(), announced(4).as_dict()]
    before = announced_so_far(told, announced(7, 2), BatchReference(FORWARD, range(1, 3)))
    assert names(before, {FORWARD: 7, BACKFILL: 2}) == [
        *("forward-1-6", "forward-1-7", "backfill-1-2")
    ]


def test_where_nothing_was_announced_history_is_not_but_the_runs_own_work_is() -> None:
    own = BatchReference(FORWARD, range(6, 8))
    before = announced_so_far([None, {"ranges": []}], announced(7, 2), own)
    # Batch 8 is settled by the run itself, which asked before.
    assert names(before, {FORWARD: 8, BACKFILL: 2}) == [f"forward-1-{n}" for n in (6, 7, 8)]
    assert announced_so_far([], announced(7, 2), NO_WORK) == announced(7, 2)
    again = announced_so_far([], announced(7, 2), BatchReference(BACKFILL, range(2, 3)))
    assert again == announced(7, 1)


def test_where_the_tables_were_put_back_what_lands_anew_is_announced_again() -> None:
    """Airflow remembers more than the tables hold."""
    told = [announced(50, 9).as_dict()]
    before = announced_so_far(told, announced(40, 2), NO_WORK)
    assert names(before, {FORWARD: 41, BACKFILL: 2}) == ["forward-1-41"]
    later = [announced(30, generation=2).as_dict()]
    before = announced_so_far(later, announced(40, 2), NO_WORK)
    assert before == announced(40, 2)


def test_announcements_of_another_table_say_nothing_about_this_one() -> None:
    other = replace(announced(400), table_id="dropped").as_dict()
    before = announced_so_far([other], announced(0), BatchReference(FORWARD, range(1, 2)))
    assert names(before, {FORWARD: 1, BACKFILL: 0}) == ["forward-1-1"]


def test_what_a_reset_has_settled_is_announced_with_the_new_generation() -> None:
    before = announced(5)
    lanes = sequences_since(before, sequence(generation=3))
    assert [str(each) for each in lanes] == [
        f"{lane}-{generation}" for generation in (1, 2, 3) for lane in ("forward", "backfill")
    ]
    settled = dict(zip(lanes, [6, 1, 1, 0, 2, 0], strict=True))
    assert names(before, settled) == [
        *("forward-1-6", "backfill-1-1", "forward-2-1", "forward-3-1", "forward-3-2")
    ]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["forward", "backfill", "reset"]),
            st.sampled_from(["succeeds", "dies", "fails for good"]),
            st.booleans(),
        ),
        max_size=20,
    )
)
def test_whatever_dies_each_batch_is_announced_once_in_the_end(
    runs: list[tuple[Lane | Literal["reset"], str, bool]],
) -> None:
    """A model of the scheduler: an event is stored with success, the memory before settling."""
    settled: dict[BatchSequence, int] = {FORWARD: 0, BACKFILL: 0}
    generation = 1
    events: list[dict[str, Any]] = []
    memory: dict[str, Any] | None = None
    told: Counter[str] = Counter()

    def settle(lane: Lane, news: int, work: BatchReference, end: str) -> None:
        nonlocal memory
        newest = sequence(generation=generation)
        at = Announced("table", generation, *(settled[replace(newest, lane=n)] for n in LANES))
        before = announced_so_far([*events, memory], at, work)
        memory = before.as_dict()
        if news:
            settled[replace(newest, lane=lane)] += news
        if end == "succeeds":
            found = names(before, {each: settled[each] for each in sequences_since(before, newest)})
            told.update(found)
            after = (settled[replace(newest, lane=each)] for each in LANES)
            if found:
                events.append(Announced("table", generation, *after).as_dict())

    for action, end, cleared in runs:
        if action == "reset":
            generation += 1
            settled |= {sequence(lane=lane, generation=generation): 0 for lane in LANES}
            continue
        mine = sequence(lane=action, generation=generation)
        work = BatchReference(mine, range(settled[mine] + 1, settled[mine] + 2))
        settle(action, 1, work, end)
        if end == "dies":
            settle(action, 0, work, "succeeds")
        if cleared:
            settle(action, 0, work, "succeeds")
    settle("forward", 0, NO_WORK, "succeeds")
    every = [each.batch(n) for each, last in settled.items() for n in range(1, last + 1)]
    assert told == Counter(every)


@pytest.mark.parametrize("value", [None, 7, {}, {"table": 3}, {"generation": "1"}, ["table"]])
def test_what_others_wrote_is_not_read_as_an_announcement(value: object) -> None:
    assert Announced.read(value) is None


def test_it_is_read_back_from_json() -> None:
    for each in (announced(3, 4, 2), replace(announced(0), table_id=None)):
        assert Announced.read(json.loads(json.dumps(each.as_dict()))) == each


def announcement(batches: int, partitions: int, unnamed: int = 0) -> Announcement:
    ranges = [offsets(0, 10, number) for number in range(partitions)]
    made = (batch(*ranges, offsets(5, 5, partitions), number=n + 1) for n in range(batches))
    receipts = (receipt_without_gaps(each, each.number) for each in made)
    return announcement_of(receipts, announced(batches), unnamed)


def test_few_ranges_are_spelled_out() -> None:
    found = announcement(2, 2).as_dict()
    assert found["announced"] == announced(2).as_dict()
    assert "left_out" not in found
    assert found["batches"][1] == {
        "batch": "forward-1-2",
        "data_version": 2,
        "records": 20,
        "quarantined": 0,
        "gaps": 0,
        "ranges": [
            {"topic": "flights", "partition": number, "start": 0, "end": 10, "records": 10}
            for number in (0, 1)
        ],
    }


def test_an_announcement_stays_small_and_says_what_it_leaves_out() -> None:
    found = announcement(3, MOST_RANGES // 2).as_dict()
    assert [set(each) & {"ranges", "records"} for each in found["batches"]] == [{"records"}] * 3
    assert found["left_out"] == {"ranges": 3 * (MOST_RANGES // 2)}
    largest = announcement(MOST_BATCHES, MOST_RANGES, unnamed=23_500)
    assert largest.as_dict()["left_out"]["batches"] == 23_500
    assert len(json.dumps(largest.as_dict())) < 40_000
    assert str(largest) == "23,700 batches"
    assert not announcement(0, 0)
