"""Every invariant that does not hold is named, with the partition, expected and found."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.row_offsets import NO_ROWS
from sluice.operations.verify.checks import INVARIANTS, check
from sluice.progress.committed_ranges import CountedRange
from sluice.progress.evidence import Evidence

from tests.unit.builders import offsets, partition
from tests.unit.exact import EXACT, array, found_in, read, rows, with_, without


def broken(**changes: Any) -> list[str]:
    return found_in(replace(EXACT, **changes))


def test_what_is_exact_has_no_violation() -> None:
    assert check(EXACT) == []


def test_a_partition_where_nothing_ever_was_is_exact() -> None:
    nothing = {"data": NO_ROWS, "quarantined": NO_ROWS, "visible": array([]), "readable": []}
    assert broken(reads=[read(1, 0, 0)], **nothing) == []
    assert broken(reads=[], **nothing) == []


HOLED = replace(
    EXACT,
    reads=[EXACT.reads[0], read(2, 12, 20, refused=1)],
    readable=[offsets(12, 20)],
    visible=array(range(12, 20)),
    data=without(EXACT.data, 10, 11),
)


def test_a_hole_that_is_recorded_as_lost_is_no_hole() -> None:
    assert found_in(HOLED) == ["tiled"]
    assert found_in(replace(HOLED, lost=[offsets(10, 12)])) == []


def test_a_hole_of_several_recorded_losses_is_no_hole_either() -> None:
    assert found_in(replace(HOLED, lost=[offsets(10, 11), offsets(11, 12)])) == []
    assert found_in(replace(HOLED, lost=[offsets(11, 12)])) == ["tiled"]


def test_a_settled_batch_without_a_receipt_is_not_accounted() -> None:
    first, second = EXACT.reads
    assert broken(reads=[first, replace(second, receipts=[])]) == ["accounted"]
    assert broken(reads=[first, replace(second, receipts=[], due=False)]) == []


def test_a_missing_row_is_incomplete_and_not_as_accounted() -> None:
    (incomplete, unaccounted) = check(replace(EXACT, data=without(EXACT.data, 7)))
    assert str(incomplete) == (
        "complete: flights[0]: expected every record that Kafka shows, found 1 missing: 7"
    )
    assert unaccounted.invariant == "accounted"
    assert "9 records of forward-1-1 in flights[0] [0, 10)" in unaccounted.expected
    assert unaccounted.found == "8 rows"


def left_out(*offsets_left_out: int, told: bool = True, counted: int = 2) -> Evidence:
    """Of the first batch, records of other kinds have no row."""
    first, second = EXACT.reads
    (whole,) = first.receipts
    line = replace(whole, records=whole.records - 2, filtered=counted)
    return replace(
        EXACT,
        reads=[replace(first, receipts=[line]), second],
        data=without(EXACT.data, *offsets_left_out),
        filtered=rows((0, [7, 8])) if told else rows(),
    )


def test_what_was_left_out_is_not_missing() -> None:
    assert check(left_out(7, 8)) == []


def test_only_the_offsets_that_were_left_out_are_excused() -> None:
    """Row 6 is gone, and there is one of an offset that was left out: the counts still match."""
    (found, *_) = check(left_out(6, 8))
    assert found.invariant == "complete"
    assert found.found == "1 missing: 6"


def test_a_row_of_a_record_that_was_left_out_is_a_phantom_and_read_again_goes() -> None:
    exact = left_out(7, 8)
    (phantom, unaccounted) = check(replace(exact, data=with_(exact.data, (0, [8]))))
    assert unaccounted.invariant == "accounted"
    assert str(phantom) == (
        "no phantom: flights[0]: expected no row of a record that `only` left out, found 1 row: 8"
    )
    assert phantom.again == (offsets(8, 9),)


def test_a_row_of_an_older_batch_is_a_phantom_where_a_later_one_left_its_record_out() -> None:
    """The first batch has landed records 7 and 8; read again, they are of another kind."""
    first, second = EXACT.reads
    again = read(3, 5, 10, generation=2, filtered=2)
    counted = [replace(first, due=False, receipts=[]), second, again]
    data = with_(without(EXACT.data, *range(5, 10)), (2, [5, 6, 9]))
    reread = {"reads": counted, "openings": {2: 5}, "filtered": rows((2, [7, 8]))}
    assert broken(**reread, data=data) == []
    assert broken(**reread, data=with_(data, (0, [7]))) == ["no phantom"]
    # One that a still later batch has landed stays.
    landed = read(4, 7, 8, generation=3)
    later = {**reread, "reads": [*counted, landed], "openings": {2: 5, 3: 7}}
    assert broken(**later, data=with_(data, (3, [7]))) == []


def test_without_the_commit_as_many_as_the_receipt_counts_are_excused() -> None:
    assert check(left_out(7, 8, told=False)) == []
    invariants = [each.invariant for each in check(left_out(6, 7, 8, told=False))]
    assert invariants == ["complete", "accounted"]


def test_a_receipt_that_counts_others_left_out_than_its_commit_is_not_accounted() -> None:
    assert "accounted" in [each.invariant for each in check(left_out(7, 8, counted=3))]


def test_what_a_person_has_given_up_is_not_missing_and_may_be_there() -> None:
    """Row 7 is missing or not, and the receipt says that it is lost."""
    first, second = EXACT.reads
    lost = CountedRange(offsets(0, 10), 8, 0)
    reads = [replace(first, receipts=[lost]), second]
    without_it = {"reads": reads, "data": without(EXACT.data, 7)}
    assert broken(**without_it) == ["complete"]
    assert broken(**without_it, given_up=[offsets(7, 8)]) == []
    assert broken(reads=reads) == ["accounted"]
    assert broken(reads=reads, given_up=[offsets(7, 8)]) == []
    two = [replace(first, receipts=[CountedRange(offsets(0, 10), 7, 0)]), second]
    assert broken(reads=two, given_up=[offsets(7, 8)]) == ["accounted"], "one of the two"


def test_what_a_person_has_given_up_of_a_later_read_is_none_of_an_earlier_one_either() -> None:
    """Row 1, which Kafka holds no more, is gone from the second read's file."""
    again = replace(read(1, 0, 10, gaps=2, generation=2, version=3), receipts=[])
    reread = {
        "openings": {2: 0},
        "data": rows((1, [*range(10, 15), *range(16, 20)]), (2, [0, 2, *range(4, 10)])),
        "accepted": [offsets(1, 2)],
    }
    counted = replace(again, receipts=[CountedRange(offsets(0, 10), 8, 0, never=1)])
    assert broken(reads=[*EXACT.reads, counted], **reread) == []
    whole = replace(again, receipts=[CountedRange(offsets(0, 10), 9, 0, never=1)])
    lacking = broken(reads=[*EXACT.reads, whole], **reread)
    assert lacking == ["accounted"], "given up before it was read again, and lost after that"


def test_markers_that_a_later_read_has_met_elsewhere_excuse_no_row() -> None:
    """The third read shares [5, 10) with the first one, and has rows of all these."""
    counted = CountedRange(offsets(5, 20), 12, 1, never=2)
    again = replace(read(1, 5, 20, generation=2, version=3), receipts=[counted])
    inside = [*range(5, 10), *range(12, 15), *range(16, 20)]
    reread: dict[str, Any] = {"reads": [*EXACT.reads, again], "openings": {2: 5}}
    reread |= {"never": array([10, 11])}
    reread |= {"visible": array([5, 6, 7, 8, 9, *range(12, 20)]), "quarantined": rows((2, [15]))}
    assert broken(**reread, data=rows((0, [0, 1, 2, 4]), (2, inside))) == []
    assert broken(**reread, data=rows((0, [0, 2, 4]), (2, inside))) == ["accounted"]


def test_a_missing_row_that_kafka_no_longer_holds_is_still_not_as_accounted() -> None:
    assert broken(data=without(EXACT.data, 1)) == ["accounted"]


def test_a_repeated_row_is_not_unique() -> None:
    assert broken(data=with_(EXACT.data, (0, [7]))) == ["unique", "accounted"]


def test_a_row_that_is_in_quarantine_as_well_is_not_unique() -> None:
    assert broken(quarantined=rows((1, [15, 16]))) == ["unique", "accounted"]


@pytest.mark.parametrize("second", [(11, 20), (9, 20)], ids=["hole", "overlap"])
def test_ranges_that_do_not_touch_do_not_tile(second: tuple[int, int]) -> None:
    reads = [read(1, 0, 10, due=False), read(2, *second, due=False)]
    data = EXACT.data if second[0] == 9 else without(EXACT.data, 10)
    found = check(replace(EXACT, reads=reads, data=data))
    assert [each.invariant for each in found] == ["tiled"]
    assert "a range that starts at 10" in found[0].expected
    assert f"flights[0] [{second[0]}, 20)" in found[0].found


@pytest.mark.parametrize("place", [-1, 0, 1])
@pytest.mark.parametrize("beyond", [-1, 20, 99])
def test_a_row_outside_the_ranges_is_a_phantom(beyond: int, place: int) -> None:
    assert broken(data=with_(EXACT.data, (place, [beyond])))[0] == "no phantom"


def test_a_row_of_no_committed_batch_is_a_phantom() -> None:
    (strange, short) = check(replace(EXACT, data=with_(without(EXACT.data, 7), (-1, [7]))))
    assert (strange.invariant, strange.found) == ("no phantom", "1 others: 7")
    assert short.invariant == "accounted"


def test_rows_that_name_each_other_s_batches_are_phantoms() -> None:
    swapped = with_(without(EXACT.data, 7, 17), (0, [17]), (1, [7]))
    assert broken(data=swapped) == ["no phantom"]


def test_a_row_where_the_log_has_a_marker_is_a_phantom() -> None:
    unseen = {"visible": EXACT.visible[EXACT.visible != 8]}
    assert replace(EXACT, **unseen).unseen.tolist() == [8]
    assert broken(**unseen, never=array([8])) == ["no phantom"]


def test_a_row_whose_record_kafka_has_lost_since_is_no_phantom() -> None:
    assert broken(visible=EXACT.visible[EXACT.visible != 7]) == []


def test_of_a_topic_that_compacts_any_record_may_have_gone_since() -> None:
    seen_less = replace(EXACT, visible=EXACT.visible[EXACT.visible != 8], compacts=True)
    assert seen_less.unseen.tolist() == []


def test_a_receipt_with_other_counts_is_not_accounted() -> None:
    wrong = CountedRange(offsets(10, 20), 8, 2)
    found = check(replace(EXACT, reads=[EXACT.reads[0], replace(EXACT.reads[1], receipts=[wrong])]))
    assert [(each.invariant, each.found) for each in found] == [
        ("accounted", "9 rows"),
        ("accounted", "1 rows"),
    ]


def test_a_receipt_that_is_there_twice_is_not_accounted() -> None:
    first, second = EXACT.reads
    twice = replace(second, receipts=[*second.receipts, *second.receipts])
    assert broken(reads=[first, twice]) == ["accounted"]


def test_a_receipt_over_other_offsets_than_planned_is_not_accounted() -> None:
    first, second = EXACT.reads
    shifted = CountedRange(offsets(11, 20), 8, 1)
    assert broken(reads=[first, replace(second, receipts=[shifted])]) == ["accounted"]


def test_a_batch_that_nobody_asks_about_owns_its_rows_and_owes_nothing() -> None:
    first, second = EXACT.reads
    unasked = replace(first, checked=False)
    part = without(EXACT.data, *range(5))
    assert broken(reads=[first, second], data=part) == ["accounted"]
    assert broken(reads=[unasked, second], data=part, openings={1: 10}) == []
    assert broken(reads=[unasked, second], data=part, openings={1: 9}) == ["tiled"]


def test_only_a_few_of_many_offsets_are_named() -> None:
    (found, *_) = check(replace(EXACT, data=NO_ROWS))
    assert found.found == "14 missing: 5, 6, 7, 8, 9, …"


FAULTS = {"drop": "complete", "double": "unique", "foreign": "no phantom"}


@given(st.data())
def test_no_fault_in_any_exact_partition_goes_unseen(data: st.DataObject) -> None:
    start, cuts = data.draw(st.integers(0, 50)), data.draw(st.lists(st.integers(0, 9), min_size=1))
    bounds = [start]
    for length in cuts:
        bounds.append(bounds[-1] + length)
    ranges = [offsets(a, b) for a, b in pairwise(bounds)]
    every = list(range(start, bounds[-1]))
    refused = data.draw(st.sets(st.sampled_from(every))) if every else set()
    reads = []
    for number, each in enumerate(ranges, start=1):
        bad = sum(each.start <= at < each.end for at in refused)
        reads.append(read(number, each.start, each.end, refused=bad))
    whole = rows(*((place, range(each.start, each.end)) for place, each in enumerate(ranges)))
    aside = np.isin(whole.offsets, sorted(refused))
    exact = Evidence(
        partition=partition(),
        reads=reads,
        readable=[offsets(start, bounds[-1])] if every else [],
        visible=array(every),
        data=whole.only(~aside),
        quarantined=whole.only(aside),
    )
    assert check(exact) == []
    if kept := sorted(set(every) - refused):
        at = data.draw(st.sampled_from(kept))
        faults = {
            "drop": without(exact.data, at),
            "double": exact.data.and_(exact.data.only(exact.data.offsets == at)),
            "foreign": with_(exact.data, (-1, [bounds[-1]])),
        }
        for fault, invariant in FAULTS.items():
            found = {each.invariant for each in check(replace(exact, data=faults[fault]))}
            assert invariant in found
            assert found <= set(INVARIANTS)
