"""Erased rows: which rows would come back, and that they do not do so by the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from sluice.errors import RowsErased
from sluice.offsets.ranges import TopicIdPartition
from sluice.progress.erased import (
    ChangedRows,
    Erased,
    ErasedRows,
    RangeToReread,
    RowsByPlace,
    erased_rows,
    rows_among,
)
from sluice.tables.foreign_commits import TableCommit

from tests.unit.builders import TOPIC_ID, offsets, partition


def rows(*numbers: int, topic_id: str = TOPIC_ID, at: int = 0) -> RowsByPlace:
    return {TopicIdPartition(topic_id, at): np.array(numbers, dtype=np.int64)}


def again(*ranges: tuple[int, int], topic_id: str = TOPIC_ID) -> list[RangeToReread]:
    return [RangeToReread(offsets(*each), topic_id) for each in ranges]


NONE = rows()
SEVEN = ErasedRows(partition(), rows=1, first=7, last=7)


@pytest.mark.parametrize(
    ("ranges", "removed", "present", "found"),
    [
        ([(0, 10)], [rows(3, 9, 12)], NONE, [(2, 3, 9)]),
        ([(4, 9)], [rows(3, 9)], NONE, []),
        ([(0, 4), (8, 10)], [rows(3, 5, 9)], NONE, [(2, 3, 9)]),
        # Deleted, brought back, deleted again: one row.
        ([(0, 10)], [rows(3), rows(3, 4)], NONE, [(2, 3, 4)]),
        # Written again since: by a reread, or by those who had moved it.
        ([(0, 10)], [rows(3, 4)], rows(4), [(1, 3, 3)]),
        ([(0, 10)], [rows(3, topic_id="of the topic before")], NONE, []),
        ([(0, 10)], [rows(3, at=1)], NONE, []),
        ([(0, 10)], [], NONE, []),
    ],
)
def test_rows_that_others_deleted_and_nobody_wrote_again_would_come_back(
    ranges: Sequence[tuple[int, int]],
    removed: Sequence[RowsByPlace],
    present: RowsByPlace,
    found: Sequence[tuple[int, int, int]],
) -> None:
    expected = [ErasedRows(partition(), *each) for each in found]
    asked = again(*ranges)
    among = rows_among(asked, removed)
    assert list(erased_rows(asked, among, present)) == expected


def test_they_come_back_only_if_somebody_says_so() -> None:
    masked = ChangedRows(partition(), rows=2, first=8, last=9)
    found = Erased((SEVEN,), (TableCommit(12, "DELETE"),), (masked,))
    with pytest.raises(RowsErased) as raised:
        found.require_allowed("flights", bring_back=False)
    assert raised.value.retryable is False
    assert str(raised.value).splitlines() == [
        "flights: expected offsets without deleted or changed rows, found:",
        "flights[0] [7, 8): 1 row that others deleted would come back",
        "flights[0] [8, 10): 2 rows that others changed would be again as they were read",
        "version 12 of the data table is a DELETE by others: rows that it deleted or changed may"
        " come back as they were; which ones is no longer known",
        "Nothing was changed. If they are to come back, say so: --bring-back-erased, or"
        " `bring_back_erased` in the form of a run; otherwise leave these offsets out.",
    ]
    found.require_allowed("flights", bring_back=True)


def test_where_nothing_was_deleted_nothing_is_asked() -> None:
    assert not Erased()
    Erased().require_allowed("flights", bring_back=False)
