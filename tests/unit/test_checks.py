"""Every invariant that does not hold is named, with the partition, expected and found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.proof.accounting import Counted
from sluice.proof.checks import INVARIANTS, Evidence, Offsets, check
from sluice.proof.gaps import GapCount

from tests.unit.builders import offsets, partition, planned


def array(values: Sequence[int]) -> Offsets:
    return np.array(values, dtype=np.int64)


# Two batches, [0, 10) and [10, 20): 3 is a marker, 15 quarantined, Kafka still holds [5, 20).
EXACT = Evidence(
    partition=partition(),
    ranges=[offsets(0, 10), offsets(10, 20)],
    settled=2,
    lost=[],
    receipts=[
        Counted(planned(offsets(0, 10)), 9, 0, GapCount(control=1)),
        Counted(planned(offsets(10, 20)), 9, 1, GapCount()),
    ],
    readable=offsets(5, 20),
    visible=array(range(5, 20)),
    data=array([*range(3), *range(4, 15), *range(16, 20)]),
    quarantined=array([15]),
    compacts=False,
)


def broken(**changes: Any) -> list[str]:
    return [each.invariant for each in check(replace(EXACT, **changes))]


def test_what_is_exact_has_no_violation() -> None:
    assert check(EXACT) == []


def test_a_partition_where_nothing_ever_was_is_exact() -> None:
    nothing = array([])
    empty = Evidence(
        partition=partition(),
        ranges=[offsets(0, 0)],
        settled=0,
        receipts=[],
        lost=[],
        readable=offsets(0, 0),
        visible=nothing,
        data=nothing,
        quarantined=nothing,
        compacts=False,
    )
    assert check(empty) == []


def test_a_hole_that_is_recorded_as_lost_is_no_hole() -> None:
    ranges = [offsets(0, 10), offsets(12, 20)]
    receipts = [EXACT.receipts[0], Counted(planned(offsets(12, 20)), 7, 1, GapCount())]
    changes = {"ranges": ranges, "receipts": receipts, "readable": offsets(12, 20)}
    holed = replace(
        EXACT,
        **changes,
        visible=array(range(12, 20)),
        data=EXACT.data[(EXACT.data < 10) | (EXACT.data >= 12)],
    )
    assert [each.invariant for each in check(holed)] == ["tiled"]
    assert check(replace(holed, lost=[offsets(10, 12)])) == []


def test_a_settled_batch_without_a_receipt_is_not_accounted() -> None:
    assert broken(receipts=EXACT.receipts[:1]) == ["accounted"]
    assert broken(receipts=EXACT.receipts[:1], settled=1) == []


def test_a_missing_row_is_incomplete_and_not_as_accounted() -> None:
    (incomplete, unaccounted) = check(replace(EXACT, data=EXACT.data[EXACT.data != 7]))
    assert str(incomplete) == (
        "complete: flights[0]: expected every record that Kafka shows, found 1 missing: 7"
    )
    assert unaccounted.invariant == "accounted"
    assert "9 records in flights[0] [0, 10)" in unaccounted.expected
    assert unaccounted.found == "8 rows"


def test_a_missing_row_that_kafka_no_longer_holds_is_still_not_as_accounted() -> None:
    assert broken(data=EXACT.data[EXACT.data != 1]) == ["accounted"]


def test_a_repeated_row_is_not_unique() -> None:
    assert broken(data=array([*EXACT.data, 7])) == ["unique", "accounted"]


def test_a_row_that_is_in_quarantine_as_well_is_not_unique() -> None:
    assert broken(quarantined=array([15, 16])) == ["unique", "accounted"]


@pytest.mark.parametrize("second", [(11, 20), (9, 20)], ids=["hole", "overlap"])
def test_ranges_that_do_not_touch_do_not_tile(second: tuple[int, int]) -> None:
    ranges = [offsets(0, 10), offsets(*second)]
    found = check(replace(EXACT, ranges=ranges, settled=0, receipts=[]))
    assert [each.invariant for each in found] == ["tiled"]
    assert "a range that starts at 10" in found[0].expected
    assert f"flights[0] [{second[0]}, 20)" in found[0].found


@pytest.mark.parametrize("beyond", [20, 99])
def test_a_row_outside_the_ranges_is_a_phantom(beyond: int) -> None:
    assert broken(data=array([*EXACT.data, beyond])) == ["no phantom"]


def test_a_row_that_kafka_does_not_show_is_a_phantom_unless_the_topic_compacts() -> None:
    unseen = EXACT.visible[EXACT.visible != 8]
    assert broken(visible=unseen) == ["no phantom"]
    assert broken(visible=unseen, compacts=True) == []


def test_a_receipt_with_other_counts_is_not_accounted() -> None:
    first, second = EXACT.receipts
    wrong = Counted(second.planned, 8, 2, GapCount())
    found = check(replace(EXACT, receipts=[first, wrong]))
    assert [(each.invariant, each.found) for each in found] == [
        ("accounted", "9 rows"),
        ("accounted", "1"),
    ]


def test_a_receipt_that_is_there_twice_is_not_accounted() -> None:
    first, second = EXACT.receipts
    assert broken(receipts=[first, second, second]) == ["accounted"]


def test_a_receipt_over_other_offsets_than_planned_is_not_accounted() -> None:
    first, _ = EXACT.receipts
    shifted = Counted(planned(offsets(11, 20)), 8, 1, GapCount())
    assert broken(receipts=[first, shifted]) == ["accounted"]


def test_only_a_few_of_many_offsets_are_named() -> None:
    (found, *_) = check(replace(EXACT, data=array([])))
    assert found.found == "14 missing: 5, 6, 7, 8, 9, …"


FAULTS = {"drop": "complete", "double": "unique", "foreign": "no phantom"}


@given(st.data())
def test_no_fault_in_any_exact_partition_goes_unseen(data: st.DataObject) -> None:
    start, cuts = data.draw(st.integers(0, 50)), data.draw(st.lists(st.integers(0, 9), min_size=1))
    bounds = [start]
    for each in cuts:
        bounds.append(bounds[-1] + each)
    ranges = [offsets(a, b) for a, b in pairwise(bounds)]
    every = list(range(start, bounds[-1]))
    refused = data.draw(st.sets(st.sampled_from(every))) if every else set()
    rows = [each for each in every if each not in refused]
    lines = []
    for each in ranges:
        bad = sum(each.start <= at < each.end for at in refused)
        lines.append(Counted(planned(each), each.span - bad, bad, GapCount()))
    exact = Evidence(
        partition(), ranges, len(ranges), lines, [], offsets(start, bounds[-1]), array(every),
        array(rows), array(sorted(refused)), False,
    )  # fmt: skip
    assert check(exact) == []
    if rows:
        at = data.draw(st.sampled_from(rows))
        faults = {
            "drop": array([each for each in rows if each != at]),
            "double": array([*rows, at]),
            "foreign": array([*rows, bounds[-1]]),
        }
        for fault, invariant in FAULTS.items():
            found = {each.invariant for each in check(replace(exact, data=faults[fault]))}
            assert invariant in found
            assert found <= set(INVARIANTS)
