"""The topics that had one name are ordered as they were read, as far as that is known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sluice.offsets.batches import PlannedRange
from sluice.state_table.topic_ranks import Stint, TopicRanks

from tests.unit.builders import offsets

FIRST, SECOND, AGAIN, LAST = range(4)


def planned(
    topic_id: str, end: int = 10, number: int = 0, topic: str = "t", held: int = 0
) -> PlannedRange:
    return PlannedRange(offsets(end - 1, end, number, topic), topic_id, 0, held or 10, None)


def ranks(*generations: list[PlannedRange]) -> TopicRanks:
    return TopicRanks.of([(each, each) for each in generations])


def test_a_later_topic_has_the_later_place() -> None:
    found = ranks(
        [planned("A", 5), planned("C", topic="u")],
        [planned("A", 9), planned("C", topic="u")],
        [planned("B", 3), planned("C", topic="u")],
    )
    assert found.stints == {
        "t": (Stint("A", {0: 9}), Stint("B", {0: 3})),
        "u": (Stint("C", {0: 10}),),
    }
    assert [*found.returns] == []
    places = [found.place(each, 0, 99) for each in ("A", "B", "C", "Z")]
    assert places == [FIRST, SECOND, FIRST, None]


def test_a_topic_that_is_read_again_has_a_place_for_what_it_held_and_one_for_what_it_got() -> None:
    found = ranks([planned("A", 5)], [planned("B")], [planned("A", 8)], [planned("C")])
    assert [*found.returns] == [("t", AGAIN, [SECOND])]
    assert [found.place("A", 0, each) for each in (0, 4, 5, 7, 99)] == [FIRST] * 2 + [AGAIN] * 3
    assert (found.place("B", 0, 0), found.place("C", 0, 0)) == (SECOND, LAST)
    assert found.place("A", 1, 0) == AGAIN, "a partition that it had not, or that was not read"


def test_what_an_older_copy_of_a_topic_lacked_when_it_came_back_is_not_what_was_read() -> None:
    back = [planned("A", 9, held=9)], [planned("A", 9)]
    copy = TopicRanks.of([([], [planned("A", 7)]), ([], [planned("B")]), back])
    assert copy.place("A", 0, 6) == FIRST
    back = [planned("A", 4, held=4)], [planned("A", 9)]
    older = TopicRanks.of([([], [planned("A", 7)]), ([], [planned("B")]), back])
    assert [older.place("A", 0, each) for each in (3, 4, 6)] == [FIRST, AGAIN, AGAIN]
    again = [planned("A", 2, held=4)], [planned("A", 5)]
    reset = TopicRanks.of([([], [planned("A", 7)]), again, ([], [planned("B")])])
    assert reset.stints["t"][0] == Stint("A", {0: 5})


def test_a_topic_that_came_back_twice_has_no_order_among_all_that_were_read_meanwhile() -> None:
    found = ranks(*([planned(each)] for each in "ABACA"))
    assert [*found.returns] == [("t", 2, [1]), ("t", 4, [1, 3])]


def test_a_topic_that_is_read_on_has_not_come_back() -> None:
    found = ranks([planned("A", 5)], [], [planned("A", 2)], [planned("B")])
    assert found.stints == {"t": (Stint("A", {0: 5}), Stint("B", {0: 10}))}


def test_a_later_topic_is_met_in_all_partitions() -> None:
    both = [[planned(each, number=number) for number in (0, 1)] for each in "AB"]
    assert ranks(*both).stints["t"] == (Stint("A", {0: 10, 1: 10}), Stint("B", {0: 10, 1: 10}))


def test_a_partition_that_only_the_former_topic_had_does_not_bring_it_back() -> None:
    rest = planned("A", 7, number=1)
    found = ranks([planned("A"), rest], [planned("B"), rest], [planned("B"), rest])
    assert found.stints["t"] == (Stint("A", {0: 10, 1: 7}), Stint("B", {0: 10}))
    assert [*ranks([planned("A"), rest], [planned("B"), rest], [planned("A")]).returns]


@pytest.mark.parametrize(
    ("one", "offset", "other", "precedes"),
    [
        ("A", 0, "B", True),
        ("A", 5, "B", False),
        ("A", 5, "D", True),
        ("B", 0, "A", True),
        ("D", 0, "B", False),
        ("A", 0, "C", True),
        ("A", 0, "A", False),
        ("Z", 0, "A", True),
    ],
)
def test_rows_of_an_earlier_place_may_be_older(
    one: str, offset: int, other: str, precedes: bool
) -> None:
    found = ranks(
        [planned("A", 5), planned("C", topic="u")],
        *([planned(each)] for each in "BAD"),
    )
    assert found.may_precede(one, offset, other) is precedes
    assert replace(found, is_whole=False).may_precede(one, offset, other) is (one != other)
