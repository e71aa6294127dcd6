"""A partition's committed ranges come in the order they landed, each with its receipt."""

from __future__ import annotations

import numpy as np
from sluice.offsets.range_columns import RangeColumns
from sluice.offsets.ranges import TopicIdPartition
from sluice.progress.committed_ranges import CommittedRanges, CountedRange

from tests.unit.builders import TOPIC_ID, offsets, partition, sequence

FORWARD, BACKFILL, AGAIN = sequence(), sequence(lane="backfill"), sequence(generation=2)
SEQUENCES = (FORWARD, BACKFILL, AGAIN)
PLACES = [(TopicIdPartition(TOPIC_ID, number), partition(number)) for number in (0, 1)]
PLACE = PLACES[0][0]
LANDED = {(FORWARD, 1): 1, (BACKFILL, 1): 7, (FORWARD, 2): 3, (AGAIN, 1): 9}
SETTLED = {FORWARD: 2, BACKFILL: 0, AGAIN: 0}


def columns(*lines: tuple[int, int, int, int, int]) -> RangeColumns:
    """Sequence, number, partition, start and end; every offset is a record."""
    sequences, numbers, places, starts, ends = np.array(lines, dtype=np.int64).reshape(-1, 5).T
    nothing = np.zeros(len(lines), dtype=np.int64)
    counts = (nothing, ends - starts, nothing, nothing, nothing, nothing)
    return RangeColumns(SEQUENCES, PLACES, sequences, numbers, places, starts, ends, *counts)


PLANS = [(0, 1, 0, 0, 5), (0, 1, 1, 0, 4), (1, 1, 0, 2, 4), (0, 2, 0, 5, 9), (2, 1, 0, 0, 9)]


def test_ranges_are_in_the_order_they_landed_with_what_is_due_of_them() -> None:
    found = CommittedRanges(columns(*PLANS), columns(*PLANS[:2]), SETTLED, LANDED, by_plan=True).at(
        PLACE
    )
    assert [(each.batch, each.offsets, each.version, each.due) for each in found] == [
        ("forward-1-1", offsets(0, 5), 1, True),
        ("forward-1-2", offsets(5, 9), 3, True),
        ("backfill-1-1", offsets(2, 4), 7, False),
        ("forward-2-1", offsets(0, 9), 9, False),
    ]
    assert [each.receipts for each in found] == [[CountedRange(offsets(0, 5), 5, 0)], [], [], []]


def test_without_plans_the_receipts_say_what_was_read() -> None:
    waiting, receipts = columns(PLANS[2]), columns(PLANS[0], PLANS[3])
    found = CommittedRanges(waiting, receipts, SETTLED, LANDED).at(PLACE)
    assert [each.batch for each in found] == ["forward-1-1", "forward-1-2", "backfill-1-1"]


def test_a_line_that_is_missing_of_one_partition_only_is_no_receipt_there() -> None:
    receipts = columns((0, 1, 1, 0, 4), (0, 2, 0, 5, 9))
    ranges = CommittedRanges(columns(*PLANS), receipts, SETTLED, LANDED, by_plan=True)
    first = ranges.at(PLACE)[0]
    assert (first.due, first.receipts) == (True, [])
    assert len(ranges.at(PLACES[1][0])[0].receipts) == 1


def test_batches_below_the_first_in_question_are_not_checked() -> None:
    ranges = CommittedRanges(columns(*PLANS), columns(), SETTLED, LANDED, {FORWARD: 2}, True)
    assert [each.batch for each in ranges.at(PLACE) if not each.checked] == ["forward-1-1"]
