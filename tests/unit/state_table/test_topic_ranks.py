"""The topics that had one name are ordered as they were read, as far as that is known."""

from __future__ import annotations

import pytest
from sluice.offsets.ranges import TopicPartition
from sluice.state_table.topic_ranks import TopicRanks

from tests.unit.builders import partition


def read(ids: str, first: int = 1, topic: str = "t") -> list[tuple[int, TopicPartition, str]]:
    return [(at, partition(topic=topic), each) for at, each in enumerate(ids, start=first)]


def test_a_later_topic_has_the_later_place() -> None:
    ranks = TopicRanks.of([*read("AAB"), *read("CC", topic="u")])
    assert ranks == TopicRanks({"t": ("A", "B"), "u": ("C",)})
    assert ranks.places == {"A": 0, "B": 1, "C": 0}
    assert ranks.is_whole
    assert ranks.has_place("A", 1)
    assert ranks.has_place("A", 9), "a record that came back from quarantine was read as it was"
    assert ranks.has_place("A", None), "all rows of its topic id are there"
    assert not ranks.has_place("Z", 1)


def test_a_later_topic_is_met_in_all_partitions() -> None:
    both = [(each, partition(number, "t"), "AB"[each - 1]) for each in (1, 2) for number in (0, 1)]
    assert TopicRanks.of(both) == TopicRanks({"t": ("A", "B")})


def test_rows_of_a_topic_that_is_read_again_behind_another_have_no_place() -> None:
    ranks = TopicRanks.of(read("ABAAC"))
    assert ranks.again == {"A": 3}
    assert not ranks.is_whole
    assert [ranks.has_place("A", each) for each in (1, 2, 3, 4)] == [True, True, False, False]
    assert not ranks.has_place("A", None)
    assert ranks.has_place("B", None)
    assert ranks.has_place("C", 5)


def test_a_partition_that_only_the_former_topic_had_does_not_bring_it_back() -> None:
    rest = [(each, partition(1, "t"), "A") for each in (1, 2, 3)]
    assert TopicRanks.of(sorted([*rest, *read("ABB")])).is_whole
    assert TopicRanks.of(sorted([*rest, *read("ABA")])).again == {"A": 3}


def test_of_generations_whose_plans_are_gone_nothing_is_known() -> None:
    ranks = TopicRanks.of(read("BA", first=2))
    assert (ranks.since, ranks.is_whole) == (2, False)
    assert not ranks.has_place("A", 1), "it may have been read before B, too"
    assert not ranks.has_place("A", None)
    assert ranks.has_place("A", 3)


@pytest.mark.parametrize(
    ("one", "other", "precedes"),
    [("A", "B", True), ("B", "A", False), ("A", "C", False), ("A", "A", False), ("Z", "A", True)],
)
def test_rows_of_an_earlier_or_unknown_topic_may_be_older(
    one: str, other: str, precedes: bool
) -> None:
    assert TopicRanks({"t": ("A", "B"), "u": ("C",)}).may_precede(one, other) is precedes
    assert not TopicRanks().may_precede(one, other), "each name has had one topic"
