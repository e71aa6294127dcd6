"""How far the consumer group is away from the cursor that it mirrors."""

from __future__ import annotations

from sluice.offsets.group_lag import GroupLag, group_lag

from tests.unit.builders import partition

A, B, C = (partition(number) for number in range(3))
STARTS = {A: 4, B: 4, C: 4}


def test_a_group_at_the_cursor_says_so() -> None:
    found = group_lag("mine", {A: 7, B: 4}, {A: 7, B: 4}, STARTS)
    assert (found.partitions, found.behind, found.ahead) == (0, 0, 0)
    assert str(found) == "consumer group mine: at the cursor"


def test_partitions_behind_ahead_and_without_an_offset_are_counted() -> None:
    found = group_lag("mine", {A: 10, B: 5, C: 9}, {A: 7, B: 8, C: None}, STARTS)
    assert (found.partitions, found.behind, found.ahead) == (3, 3 + 5, 3)
    assert str(found) == (
        "consumer group mine: 8 offsets behind and 3 offsets ahead of the cursor, in 3"
        " partitions. The next run moves it."
    )
    only = group_lag("mine", {A: 4}, {A: None}, STARTS)
    assert str(only).startswith("consumer group mine: not at the cursor, in 1 partition.")


def test_unknown_is_not_zero() -> None:
    found = GroupLag("mine", unknown="no answer")
    assert (found.partitions, found.behind, found.ahead) == (None, None, None)
    assert str(found).endswith("the cursor is unknown: no answer")
