"""What is dropped from quarantine: recorded, it is neither missing nor unaccounted for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sluice.offsets.row_offsets import NO_ROWS
from sluice.progress.evidence import Evidence, RecordsOfBatch

from tests.unit.builders import offsets
from tests.unit.exact import EXACT, array, found_in, read, rows, without


def dropped(*ranges: tuple[str, int, int], evidence: Evidence = EXACT, **changes: Any) -> Evidence:
    drops = [RecordsOfBatch(batch, offsets(start, end)) for batch, start, end in ranges]
    return replace(evidence, dropped=drops, **changes)


def test_a_dropped_record_is_accounted_for_with_its_row_and_without() -> None:
    recorded = dropped(("forward-1-2", 15, 16))
    assert found_in(recorded) == []
    assert recorded.live.offsets.tolist() == []
    assert found_in(replace(recorded, quarantined=NO_ROWS)) == []
    assert found_in(replace(EXACT, quarantined=NO_ROWS)) == ["complete", "accounted"]


def test_a_drop_excuses_nothing_but_what_was_in_quarantine() -> None:
    assert found_in(dropped(("forward-1-2", 15, 17))) == ["accounted"]
    lacking = dropped(("forward-1-1", 7, 8), data=without(EXACT.data, 7))
    assert found_in(lacking) == ["accounted", "accounted"], "a record too few, one aside too many"


def test_a_dropped_record_that_is_read_again_counts_again() -> None:
    again = read(1, 10, 20, generation=2, version=3)
    reread = dropped(
        ("forward-1-2", 15, 16),
        reads=[*EXACT.reads, again],
        openings={2: 10},
        data=rows((0, [*range(3), *range(4, 10)]), (2, range(10, 20))),
    )
    assert found_in(reread) == []
    assert "complete" in found_in(replace(reread, data=without(reread.data, 15)))


def test_a_row_below_a_dropped_one_does_not_come_to_life() -> None:
    again = read(1, 10, 20, generation=2, version=3, refused=1)
    evidence = dropped(
        ("forward-2-1", 15, 16),
        reads=[*EXACT.reads, again],
        openings={2: 10},
        visible=array(range(5, 10)),
        readable=[offsets(5, 10)],
        data=rows((0, [*range(3), *range(4, 10)]), (2, [*range(10, 15), *range(16, 20)])),
    )
    assert evidence.superseded.tolist() == [True]
    assert found_in(evidence) == []
