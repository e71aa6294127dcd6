"""Reach: what earlier generations have committed is replaced, of whatever topic id it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sluice.offsets.batches import Batch, Lane
from sluice.offsets.reach import NO_REACH
from sluice.offsets.resets import CursorMove, Reset
from sluice.protocol.plan.next_batches import plan_next

from tests.unit.builders import (
    CLUSTER,
    TOPIC_ID,
    batch,
    history,
    log,
    offsets,
    partition,
    planned,
    sequence,
    spec,
    state,
)


def closing(*moves: CursorMove, last: int = 3, backfills: int = 0) -> Reset:
    closed: dict[Lane, int] = {"forward": last, "backfill": backfills}
    return Reset("flights", 2, closed, moves, CLUSTER, 9, "a reason")


def moved(
    before: int | None, after: int = 0, number: int = 0, topic_id: str = TOPIC_ID
) -> CursorMove:
    return CursorMove(planned(offsets(after, after, number), topic_id=topic_id), before)


def ended(*ends: int, number: int = 3, topic_id: str = TOPIC_ID) -> Batch:
    ranges = [planned(offsets(0, end, at), topic_id=topic_id) for at, end in enumerate(ends)]
    return batch(*ranges, number=number)


def test_the_topic_ids_are_those_that_were_read_not_those_that_the_reset_goes_on_with() -> None:
    reach = NO_REACH.with_generation(closing(moved(100, topic_id="new")), [ended(100)])
    assert reach.ends == {(TOPIC_ID, partition()): 100}
    again = reach.with_generation(closing(moved(3)), [ended(3, topic_id="new")])
    assert again.ends == {(TOPIC_ID, partition()): 100, ("new", partition()): 3}


def test_of_several_generations_the_furthest_counts() -> None:
    reach = NO_REACH.with_generation(closing(moved(9), moved(4, 0, 1)), [ended(9, 4)])
    reach = reach.with_generation(closing(moved(6), moved(5, 0, 1)), [ended(6, 5)])
    assert reach.ends == {(TOPIC_ID, partition()): 9, (TOPIC_ID, partition(1)): 5}


def test_what_was_only_planned_was_not_reached() -> None:
    unfinished = ended(200, 7, number=4)
    reach = NO_REACH.with_generation(closing(moved(100)), [ended(100), unfinished])
    assert reach.ends == {(TOPIC_ID, partition()): 100, (TOPIC_ID, partition(1)): 0}
    assert reach.newest == ended(100)


def test_what_a_reset_gave_up_after_a_restore_was_reached() -> None:
    """A second RESTORE may bring its rows back."""
    given_up = closing(moved(100, 40), last=1)
    reach = NO_REACH.with_generation(given_up, [ended(40, number=1), ended(100)])
    assert reach.ends == {(TOPIC_ID, partition()): 100}
    assert reach.newest == ended(40, number=1)


def test_a_generation_without_batches_reaches_to_where_it_was_opened() -> None:
    """A backfill may have filled what the reset before had passed over."""
    reach = NO_REACH.with_generation(closing(moved(100, 500)), [ended(100)])
    further = reach.with_generation(
        closing(moved(500, topic_id="new"), last=0), [], closing(moved(100, 500))
    )
    assert further.ends == {(TOPIC_ID, partition()): 500}
    assert further.newest == reach.newest
    nothing_landed = reach.with_generation(closing(moved(0), last=0), [ended(5, number=1)])
    assert nothing_landed == reach


@pytest.mark.parametrize(
    ("after", "reached", "mode"), [(4, 9, "replace"), (9, 9, "append"), (12, 9, "append")]
)
def test_a_batch_replaces_where_some_of_it_was_committed_before(
    after: int, reached: int, mode: str
) -> None:
    opening = closing(moved(9, after))
    before = replace(history(), sequence=sequence(generation=2), opening=opening)
    reach = NO_REACH.with_generation(closing(moved(reached)), [ended(reached)])
    plan = plan_next(spec(), before, state(log(0, 20)), reach=reach)
    assert [(str(each), each.mode) for each in plan.batches] == [("forward-2-1", mode)]
    assert plan.batches[0].ranges[0].offsets == offsets(after, 20)


def test_a_topic_created_anew_counts_from_the_start_and_replaces_nothing() -> None:
    opening = closing(moved(9, topic_id="another"))
    before = replace(history(), opening=opening)
    reach = NO_REACH.with_generation(opening, [ended(9)])
    plan = plan_next(spec(), before, state(log(0, 20, topic_id="another")), reach=reach)
    assert plan.batches[0].mode == "append"


def test_batches_of_which_only_rows_are_left_are_told_by_the_reset_of_their_recovery() -> None:
    reach = NO_REACH.with_generation(closing(moved(40, after=30)), [])
    assert reach.ends == {(TOPIC_ID, partition()): 40}
    assert NO_REACH.with_generation(closing(moved(40), last=0), []) == NO_REACH
    assert NO_REACH.with_generation(closing(moved(40), last=0, backfills=1), []) == reach
