"""History holds the plans that the next decision needs, and refuses tables that contradict it."""

from __future__ import annotations

import pytest
from sluice.errors import OffsetsDamaged
from sluice.offsets.batches import Batch
from sluice.offsets.history import LaneHistory

from tests.unit.builders import batch, history, offsets, partition, sequence


def batches(first: int, last: int) -> tuple[Batch, ...]:
    return tuple(batch(offsets(n * 10 - 10, n * 10), number=n) for n in range(first, last + 1))


def test_a_pipeline_without_history_has_no_cursor() -> None:
    new = history()
    assert (new.planned, new.settled, new.cursor, new.after(0)) == (0, 0, {}, ())


def test_the_cursor_is_the_last_planned_range_of_every_partition() -> None:
    old = batch(offsets(0, 5), number=1)
    new = batch(offsets(5, 8), offsets(0, 0, 1), number=2)
    cursor = history(old, new, settled=0).cursor
    assert {at: each.offsets.end for at, each in cursor.items()} == {
        partition(): 8,
        partition(1): 0,
    }


def test_batches_above_the_committed_one_are_unfinished() -> None:
    known = history(*batches(4, 7), settled=3)
    assert [each.number for each in known.after(5)] == [6, 7]
    assert known.after(7) == ()


def test_a_batch_is_found_by_number() -> None:
    known = history(*batches(4, 7), settled=3)
    assert str(known.batch(6)) == "forward-1-6"
    with pytest.raises(KeyError, match="forward-1-3"):
        known.batch(3)


@pytest.mark.parametrize(
    ("planned", "found"),
    [(2, ()), (2, (1,)), (3, (1, 3)), (2, (1, 2, 3)), (0, (1,)), (3, (3, 2)), (3, (3, 3))],
)
def test_plans_with_holes_are_refused(planned: int, found: tuple[int, ...]) -> None:
    kept = tuple(batch(offsets(0, 1), number=each) for each in found)
    with pytest.raises(OffsetsDamaged, match=r"sluice:flights:forward:1: .* restore"):
        LaneHistory(sequence(), planned, 0, kept)


@pytest.mark.parametrize(("settled", "first"), [(2, 5), (2, 4), (0, 2)])
def test_a_lost_plan_between_the_last_receipt_and_the_newest_plans_is_refused(
    settled: int, first: int
) -> None:
    """Else the lost batches are passed over in silence, and their records never read."""
    with pytest.raises(OffsetsDamaged):
        LaneHistory(sequence(), 5, settled, batches(first, 5))


def test_more_receipts_than_plans_are_refused() -> None:
    with pytest.raises(OffsetsDamaged):
        LaneHistory(sequence(), 3, 4, batches(3, 3))
