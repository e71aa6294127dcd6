"""Lacking rows: what a receipt counts in quarantine, and of which nothing tells any more."""

from __future__ import annotations

from dataclasses import replace

from sluice.offsets.row_offsets import NO_ROWS
from sluice.progress.evidence import Evidence, RecordsOfBatch
from sluice.progress.lacking_rows import lacking_in, may_lack

from tests.unit.builders import offsets
from tests.unit.exact import EXACT, read, rows, with_, without

GONE = replace(EXACT, quarantined=NO_ROWS)


def found(evidence: Evidence, *again: tuple[int, int]) -> list[tuple[str, int]]:
    planned = [offsets(*each) for each in again]
    return [(batch, count) for batch, count, _ in lacking_in(evidence, planned)]


def test_nothing_lacks_where_the_rows_are_there() -> None:
    assert found(EXACT) == []


def test_a_row_that_is_gone_lacks_among_the_offsets_without_a_row_of_its_batch() -> None:
    ((batch, count, among),) = lacking_in(GONE)
    assert (batch, count) == ("forward-1-2", 1)
    assert among.tolist() == [15]


def test_a_dropped_row_does_not_lack() -> None:
    assert found(replace(GONE, dropped=[RecordsOfBatch("forward-1-2", offsets(15, 16))])) == []


def test_what_a_later_batch_has_read_or_a_plan_will_read_does_not_lack() -> None:
    again = read(1, 15, 16, lane="backfill", version=3)
    assert found(replace(GONE, reads=[*GONE.reads, again])) == []
    assert found(GONE, (15, 16)) == []
    assert found(GONE, (0, 10)) == [("forward-1-2", 1)]


def test_an_offset_read_again_excuses_one_row() -> None:
    two = read(2, 10, 20, refused=2)
    lacking = replace(GONE, reads=[GONE.reads[0], two], data=without(GONE.data, 17))
    assert found(lacking) == [("forward-1-2", 2)]
    assert found(lacking, (15, 16)) == [("forward-1-2", 1)]
    there = replace(lacking, quarantined=rows((1, [15])))
    assert found(there, (15, 16)) == [("forward-1-2", 1)], "that one is there"


def test_what_was_gone_when_a_later_batch_came_lacks_all_the_same() -> None:
    """It met a row at 18 only; the others had no record any more."""
    again = read(1, 15, 20, gaps=4, lane="backfill", version=3)
    reads = [*GONE.reads, again]
    data = with_(without(GONE.data, 18), (2, [18]))
    assert found(replace(GONE, reads=reads, data=data)) == [("forward-1-2", 1)]
    met = replace(GONE, reads=reads, data=with_(data, (2, [15])))
    assert found(met) == [], "the record was read again"


def test_a_row_of_a_record_that_was_replaced_excuses_no_quarantined_one() -> None:
    again = read(1, 10, 11, lane="backfill", version=3)
    data = with_(without(GONE.data, 10), (2, [10]))
    replaced = replace(GONE, reads=[*GONE.reads, again], data=data)
    assert found(replaced) == [("forward-1-2", 1)]
    assert may_lack(replaced)
    assert not may_lack(EXACT)


def test_what_a_batch_left_out_is_no_row_that_it_lacks() -> None:
    two = read(2, 10, 20, refused=1, filtered=2)
    kept = without(without(GONE.data, 17), 18)
    lacking = replace(GONE, reads=[GONE.reads[0], two], data=kept, filtered=rows((1, [17, 18])))
    ((batch, count, among),) = lacking_in(lacking)
    assert (batch, count, among.tolist()) == ("forward-1-2", 1, [15])


def test_what_a_later_batch_left_out_it_has_read() -> None:
    again = read(1, 15, 17, gaps=1, filtered=1, lane="backfill", version=3)
    reads = [*GONE.reads, again]
    assert found(replace(GONE, reads=reads, filtered=rows((2, [15])))) == []
