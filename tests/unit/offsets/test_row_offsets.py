"""Superseded: what shows that a later batch has read a quarantined record again."""

from __future__ import annotations

from dataclasses import replace

from sluice.offsets.row_offsets import NO_ROWS

from tests.unit.exact import EXACT, array, read, rows

# What a command without Kafka knows: no row of the later batch is there.
KNOWN = replace(EXACT, readable=[], visible=array([]), data=NO_ROWS)
AGAIN = read(1, 15, 17, lane="backfill", version=3)


def test_a_receipt_without_gaps_shows_it_though_no_row_is_left() -> None:
    found = replace(KNOWN, reads=[*EXACT.reads, AGAIN])
    assert found.superseded.tolist() == [True]
    assert found.erased.tolist() == [False], "rows may be gone without a commit"


def test_a_receipt_with_a_gap_shows_nothing() -> None:
    gone = read(1, 15, 17, lane="backfill", version=3, gaps=1)
    found = replace(KNOWN, reads=[*EXACT.reads, gone])
    assert found.superseded.tolist() == [False]
    assert found.live.offsets.tolist() == [15]


def test_a_row_that_others_deleted_was_read_again_and_is_erased() -> None:
    for gaps in (0, 1):
        again = read(1, 15, 17, lane="backfill", version=3, gaps=gaps)
        found = replace(KNOWN, reads=[*EXACT.reads, again], deleted={4: rows((2, [15]))})
        assert found.superseded.tolist() == [True]
        assert found.erased.tolist() == [True]
