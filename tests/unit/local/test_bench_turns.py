"""The bench pairs what ran in the same turn, and judges the median of the pairs."""

from __future__ import annotations

import pytest

from local.bench.__main__ import COMPETITION
from local.bench.competition import Competition
from local.bench.figures import compared
from local.bench.places import COMPETITION as PLACES
from local.bench.turns import Comparison, Size, Turns, in_order


def turns(**seconds: list[float]) -> Turns:
    """Turns as the bench notes them, one after the other."""
    made = Turns()
    for name, each in seconds.items():
        for one in each:
            made.add(name, one)
    return made


def test_the_median_of_a_contender_is_that_of_its_turns() -> None:
    assert turns(ours=[9.0, 1.0, 2.0]).median("ours") == 2.0


def test_a_ratio_is_formed_within_a_turn_and_its_median_is_not_that_of_the_medians() -> None:
    found = turns(ours=[1.0, 8.0, 3.0], theirs=[2.0, 8.0, 12.0])
    (shown,) = compared("1 record", [Comparison("ours", "theirs")], Size(1, 0, 1, found))
    assert shown.title == "1 record: ratios"
    assert shown.lines[1:] == [("ours / theirs", "0.50", "", "", "0.50 1.00 0.25")]
    assert found.median("ours") / found.median("theirs") == 0.375


def test_a_turn_that_only_one_of_the_two_has_had_is_left_out() -> None:
    found = turns(ours=[1.0, 3.0], theirs=[2.0])
    assert found.ratios(Comparison("ours", "theirs")) == [0.5]
    assert compared("", [Comparison("ours", "nobody")], Size(1, 0, 1, found)) == []


@pytest.mark.parametrize(
    ("limit", "judged"),
    [({10: 0.5}, ("0.50", "met")), ({10: 0.49}, ("0.49", "MISSED")), ({}, ("", ""))],
)
def test_a_limit_holds_for_its_number_of_records(
    limit: dict[int, float], judged: tuple[str, str]
) -> None:
    found = Size(10, 0, 1, turns(ours=[1.0], theirs=[2.0]))
    (shown,) = compared("", [Comparison("ours", "theirs", limit)], found)
    assert shown.lines[1][2:4] == judged


def test_a_round_to_warm_up_is_not_counted() -> None:
    found, said = Size(10, 0, 1), list[str]()
    rounds = found.take({"ours": lambda: 1.0, "theirs": lambda: 2.0}, 1, said.append, warming=1)
    assert len([*rounds]) == 1
    assert found.turns.seconds == {"theirs": [2.0], "ours": [1.0]}
    assert said[::3] == ["round 0 of 1: ours 1.00 s", "round 1 of 1: ours 1.00 s"]


def test_every_second_turn_goes_backwards() -> None:
    assert [in_order("abc", turn) for turn in range(3)] == [[*"abc"], [*"cba"], [*"abc"]]


@pytest.mark.parametrize("competition", [COMPETITION, PLACES], ids=lambda each: str(each.module))
def test_every_comparison_is_one_of_contenders_that_are_there(competition: Competition) -> None:
    among = competition.comparisons
    named = {name for each in among for name in (each.ours, each.theirs)}
    assert named <= set(competition.contenders)
    assert {records for each in among for records in each.at_most} <= set(competition.sizes)
