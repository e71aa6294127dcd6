"""The bench pairs what ran in the same turn, and judges the median of the pairs."""

from __future__ import annotations

from typing import Any

import pytest

from local.bench.competition import Competition
from local.bench.contenders import COMPETITION
from local.bench.places.contenders import COMPETITION as PLACES
from local.bench.turns import Comparison, Turns, Verdict, in_order


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
    verdict = found.verdict(Comparison("ours", "theirs"), 1)
    assert verdict == Verdict([0.5, 1.0, 0.25], 0.5, None)
    assert found.median("ours") / found.median("theirs") == 0.375


def test_a_turn_that_only_one_of_the_two_has_had_is_left_out() -> None:
    found = turns(ours=[1.0, 3.0], theirs=[2.0])
    assert found.ratios(Comparison("ours", "theirs")) == [0.5]
    assert found.verdict(Comparison("ours", "nobody"), 1) is None


@pytest.mark.parametrize(("limit", "word"), [({10: 0.5}, "met"), ({10: 0.49}, "MISSED"), ({}, "")])
def test_a_limit_holds_for_its_number_of_records(limit: dict[int, float], word: str) -> None:
    verdict = turns(ours=[1.0], theirs=[2.0]).verdict(Comparison("ours", "theirs", limit), 10)
    assert verdict
    assert verdict.word == word


def test_every_second_turn_goes_backwards() -> None:
    assert [in_order("abc", turn) for turn in range(3)] == [[*"abc"], [*"cba"], [*"abc"]]


@pytest.mark.parametrize("competition", [COMPETITION, PLACES], ids=lambda each: str(each.module))
def test_every_comparison_is_one_of_contenders_that_are_there(
    competition: Competition[Any],
) -> None:
    compared = competition.comparisons
    named = {name for each in compared for name in (each.ours, each.theirs)}
    assert named <= set(competition.entries)
    assert {records for each in compared for records in each.at_most} <= set(competition.sizes)
