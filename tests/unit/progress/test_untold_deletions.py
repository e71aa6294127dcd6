"""Untold deletions: which offsets may have been rows that others deleted, by what is counted."""

from __future__ import annotations

from dataclasses import replace

from sluice.offsets.ranges import OffsetRange
from sluice.progress.evidence import Evidence, RecordsOfBatch
from sluice.progress.untold_deletions import GoneVersions, untold_in

from tests.unit.builders import offsets
from tests.unit.exact import EXACT, read, rows, with_, without

NOTHING = GoneVersions(lost=9, unreadable=-1)
# 12 is gone, and nothing tells why; nor of the quarantined record at 15.
ERASED = replace(EXACT, data=without(EXACT.data, 12))


def found(evidence: Evidence, told: GoneVersions = NOTHING, *asked: int) -> list[OffsetRange]:
    ranges = [offsets(each, each + 1) for each in asked or (12, 15)]
    return list(untold_in(evidence, ranges, told))


def test_where_all_rows_are_there_none_was_deleted() -> None:
    assert found(EXACT) == []


def test_each_offset_of_a_batch_that_lacks_a_row_may_have_been_one() -> None:
    assert found(ERASED) == [offsets(12, 13), offsets(15, 16)]
    assert found(ERASED, NOTHING, 3) == [], "another batch's"


def test_a_log_that_tells_of_all_since_the_batch_landed_is_believed() -> None:
    assert found(ERASED, GoneVersions(lost=2, unreadable=-1)) == []
    assert found(ERASED, GoneVersions(lost=-1, unreadable=2)) == []
    assert found(ERASED, GoneVersions(lost=-1, unreadable=3)) == [offsets(12, 13), offsets(15, 16)]


def test_a_table_that_has_not_seen_the_batch_land_tells_nothing() -> None:
    elsewhere = replace(ERASED, reads=[replace(each, here=False) for each in ERASED.reads])
    assert found(elsewhere, told=GoneVersions(-1, -1)) == [
        offsets(12, 13),
        offsets(15, 16),
    ]


def test_a_known_deletion_and_a_row_left_behind_are_not_lacking() -> None:
    assert found(replace(ERASED, deleted={3: rows((1, [12]))})) == []
    left = [RecordsOfBatch("forward-1-2", offsets(12, 13))]
    assert found(replace(ERASED, left_behind=left)) == []


def test_a_later_batch_that_met_every_record_says_what_became_of_them() -> None:
    again = read(1, 12, 16, refused=1, lane="backfill", version=3)
    reads = [*ERASED.reads, again]
    data = with_(without(ERASED.data, 13, 14), (2, [12, 13, 14]))
    assert found(replace(ERASED, reads=reads, data=data)) == []
    gone = without(data, 13)
    assert found(replace(ERASED, reads=reads, data=gone)) == [offsets(12, 13), offsets(15, 16)]


def test_a_later_batch_that_left_some_out_says_nothing() -> None:
    again = read(1, 12, 16, gaps=2, lane="backfill", version=3)
    data = with_(without(ERASED.data, 13, 14), (2, [13, 14]))
    met = replace(ERASED, reads=[*ERASED.reads, again], data=data)
    assert found(met) == [offsets(12, 13), offsets(15, 16)]


def test_what_a_batch_left_out_was_no_row() -> None:
    assert found(replace(ERASED, filtered=rows((1, [15])))) == [offsets(12, 13)]
