"""Where a table's rows end, by the batches that stand in it and those that count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from sluice.offsets.batches import BatchSequence, Lane, Mode, PlannedRange
from sluice.offsets.ranges import TopicPartition
from sluice.operations.reset.row_ends import read_again, row_ends
from sluice.progress.recorded_batches import RecordedBatch, standing_ends

from tests.unit.builders import batch, offsets, partition, planned, sequence


def recorded(
    number: int,
    start: int,
    end: int,
    generation: int = 1,
    counts: bool = True,
    stands: bool = True,
    mode: Mode = "append",
    lane: Lane = "forward",
    topic_id: str | None = None,
) -> RecordedBatch:
    more: dict[str, Any] = {} if topic_id is None else {"topic_id": topic_id}
    made = batch(planned(offsets(start, end), **more), number=number)
    of = sequence(lane=lane, generation=generation)
    version = 10 * generation + number
    return RecordedBatch(replace(made, sequence=of, mode=mode), counts, stands, version, True)


def cursor(at: int) -> dict[TopicPartition, PlannedRange]:
    return {partition(): planned(offsets(at, at))}


def end(at: int, *batches: RecordedBatch) -> int:
    return row_ends(cursor(at), batches, ends(*batches))[partition()].offsets.start


def ends(*batches: RecordedBatch) -> Mapping[BatchSequence, int]:
    claimed = {each.batch.sequence: 0 for each in batches}
    for each in batches:
        if each.counts:
            claimed[each.batch.sequence] = max(claimed[each.batch.sequence], each.batch.number)
    return standing_ends(claimed, batches)


def test_rows_end_at_the_cursor_where_all_batches_stand() -> None:
    assert end(8, recorded(1, 0, 5), recorded(2, 5, 8)) == 8


def test_they_end_where_the_first_batch_begins_that_has_gone() -> None:
    gone = recorded(2, 3, 5, stands=False), recorded(3, 5, 9, stands=False)
    assert end(9, recorded(1, 0, 3), *gone) == 3


def test_what_another_standing_batch_has_read_as_well_is_there() -> None:
    gone = recorded(2, 3, 5, stands=False)
    again = recorded(1, 0, 5, generation=2, mode="replace")
    assert end(5, recorded(1, 0, 3), gone, again) == 5
    assert end(5, recorded(1, 0, 3), gone, replace(again, stands=False)) == 3


def test_a_backfill_that_has_gone_moves_no_cursor() -> None:
    gone = recorded(1, 0, 4, stands=False, lane="backfill", mode="replace")
    assert end(5, recorded(1, 0, 5), gone) == 5


def test_rows_behind_a_batch_that_has_gone_count_no_more() -> None:
    """They landed while others restored the table, and another batch has read its offsets since."""
    gone, late = recorded(1, 0, 3, stands=False), recorded(2, 3, 6)
    replaced = recorded(1, 0, 3, generation=2, mode="replace")
    assert end(6, gone, late, replaced) == 3
    assert end(6, replace(gone, stands=True), late, replaced) == 6


def test_what_has_landed_late_moves_the_cursor_on_where_it_joins() -> None:
    late = recorded(2, 5, 9, counts=False)
    assert end(5, recorded(1, 0, 5), late) == 9
    assert end(3, recorded(1, 0, 5), late) == 3


def test_what_counts_already_does_not_undo_a_wish_to_read_again() -> None:
    assert end(0, recorded(1, 0, 5)) == 0


def test_offsets_that_two_batches_have_added_are_read_again() -> None:
    late = recorded(2, 5, 9, counts=False)
    other = recorded(1, 5, 7, generation=2)
    assert end(7, recorded(1, 0, 5), late, other) == 5
    replaced = replace(other, batch=replace(other.batch, mode="replace"))
    assert end(7, recorded(1, 0, 5), late, replaced) == 9


def test_another_topic_of_the_name_is_another_place() -> None:
    gone = recorded(2, 0, 5, stands=False, topic_id="new")
    assert end(5, recorded(1, 0, 5), gone) == 5
    assert list(read_again([gone], ends(gone))) == [("new", partition())]


@pytest.mark.parametrize(
    ("claimed", "standing", "last"),
    [
        (3, [True, True, True], 3),
        (3, [True, False, True], 1),
        (1, [True, True, True], 3),
        (1, [True, False, True], 1),
        (0, [False], 0),
    ],
)
def test_a_sequence_ends_at_its_last_batch_before_a_missing_one(
    claimed: int, standing: list[bool], last: int
) -> None:
    batches = [
        recorded(number, number, number + 1, stands=stands, counts=number <= claimed)
        for number, stands in enumerate(standing, start=1)
    ]
    assert standing_ends({sequence(): claimed}, batches) == {sequence(): last}
