"""What is read again: generations, lanes, live quarantine rows, and rows that others delete."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sluice.operations.verify.checks import check
from sluice.progress.evidence import Evidence
from sluice.tables.foreign_commits import RESTORE, TableCommit, may_have_deleted

from tests.unit.builders import offsets, partition
from tests.unit.exact import EXACT, array, found_in, read, rows, with_, without

# Generation 1 read [0, 10) and [10, 20); after a reset to 5 came [5, 20) and [20, 30).
# 15 was quarantined twice.
AGAIN = Evidence(
    partition=partition(),
    reads=[
        read(1, 0, 10),
        read(2, 10, 20, refused=1),
        read(1, 5, 20, refused=1, generation=2, version=4),
        read(2, 20, 30, generation=2, version=5),
    ],
    openings={2: 5},
    lost=[],
    readable=[offsets(0, 30)],
    visible=array(range(30)),
    data=rows((0, range(5)), (2, [*range(5, 15), *range(16, 20)]), (3, range(20, 30))),
    quarantined=rows((1, [15]), (2, [15])),
    deleted={},
    compacts=False,
)


def broken(**changes: Any) -> list[str]:
    return found_in(replace(AGAIN, **changes))


def test_what_is_read_again_is_exact() -> None:
    assert check(AGAIN) == []
    assert AGAIN.live.offsets.tolist() == [15]
    assert AGAIN.live.reads.tolist() == [2]


def test_quarantine_rows_that_are_no_longer_live_may_be_removed() -> None:
    assert broken(quarantined=rows((2, [15]))) == []


def test_a_generation_that_starts_elsewhere_than_its_reset_says_does_not_tile() -> None:
    (found,) = check(replace(AGAIN, openings={2: 6}))
    assert (found.invariant, found.expected) == ("tiled", "a range that starts at 6")


def test_a_generation_without_a_reset_does_not_tile() -> None:
    (found,) = check(replace(AGAIN, openings={}))
    assert found.invariant == "tiled"
    assert "a reset that says where forward-2-1 starts" in found.expected


def test_a_generation_whose_start_is_known_no_more_tiles_from_its_first_batch_on() -> None:
    assert check(replace(AGAIN, openings={2: None})) == []
    holed = [*AGAIN.reads[:3], read(2, 21, 30, generation=2, version=5)]
    missing = {"reads": holed, "data": without(AGAIN.data, 20), "openings": {2: None}}
    assert broken(**missing, visible=AGAIN.visible[AGAIN.visible != 20]) == ["tiled"]


def test_a_cursor_that_a_reset_moved_ahead_leaves_no_hole() -> None:
    ahead = replace(
        EXACT,
        reads=[read(1, 0, 10, gaps=1), read(1, 14, 20, refused=1, generation=2, version=2)],
        openings={2: 14},
        data=without(EXACT.data, *range(10, 14)),
    )
    assert check(ahead) == []
    assert found_in(replace(ahead, openings={2: 10})) == ["tiled"]
    assert found_in(replace(ahead, data=EXACT.data))[0] == "no phantom"


def test_what_was_lost_between_a_reset_and_its_first_batch_is_recorded() -> None:
    late = [*AGAIN.reads[:2], read(1, 7, 20, refused=1, generation=2, version=4), AGAIN.reads[3]]
    kept = with_(without(AGAIN.data, 5, 6), (0, [5, 6]))
    assert broken(reads=late, data=kept) == ["tiled"]
    assert broken(reads=late, data=kept, lost=[offsets(5, 7)]) == []


def test_a_backfill_needs_not_touch_anything() -> None:
    back = read(1, 2, 4, lane="backfill", version=9)
    data = with_(without(EXACT.data, 2), (2, [2]))
    back = replace(back, receipts=read(1, 2, 4, gaps=1).receipts)
    assert found_in(replace(EXACT, reads=[*EXACT.reads, back], data=data)) == []


def test_a_row_that_was_read_again_and_is_gone_is_missing() -> None:
    assert broken(data=without(AGAIN.data, 7)) == ["complete", "accounted"]


def test_a_row_of_an_older_batch_in_the_place_of_a_newer_one_is_not_accounted() -> None:
    assert broken(data=with_(without(AGAIN.data, 7), (0, [7]))) == ["accounted"]


def test_an_older_quarantine_row_does_not_stand_in_for_a_record_read_again() -> None:
    assert broken(quarantined=rows((1, [15]))) == ["complete", "accounted"]


def test_a_quarantine_row_of_no_committed_batch_is_not_live() -> None:
    assert broken(quarantined=with_(AGAIN.quarantined, (-1, [7, 8]))) == []
    undone = with_(rows((1, [15])), (-1, [15]))
    assert broken(quarantined=undone) == ["complete", "accounted"]


def test_what_kafka_no_longer_held_was_not_read_again() -> None:
    gone = AGAIN.visible[AGAIN.visible != 15]
    reads = [*AGAIN.reads]
    reads[2] = read(1, 5, 20, gaps=1, generation=2, version=4)
    compacted = replace(
        AGAIN, reads=reads, visible=gone, quarantined=rows((1, [15])), compacts=True
    )
    assert check(compacted) == []
    assert compacted.live.offsets.tolist() == [15]


def test_a_quarantined_record_of_another_copy_is_superseded_by_a_marker() -> None:
    reads = [*AGAIN.reads]
    again = read(1, 5, 20, gaps=1, generation=2, version=4)
    reads[2] = replace(again, receipts=[replace(again.receipts[0], never=1)])
    copy = replace(
        AGAIN,
        reads=reads,
        visible=AGAIN.visible[AGAIN.visible != 15],
        quarantined=rows((1, [15])),
    )
    assert copy.unseen.tolist() == [15]
    assert check(replace(copy, never=array([15]))) == []


def test_a_batch_read_again_in_part_may_have_fewer_rows_and_never_more() -> None:
    reads = [read(1, 0, 10, gaps=6), *AGAIN.reads[1:]]
    (found,) = check(replace(AGAIN, reads=reads))
    assert (found.invariant, found.found) == ("accounted", "5 rows")
    assert "4 records of forward-1-1" in found.expected


def test_a_batch_read_again_in_part_excuses_as_many_rows_as_were_read_again() -> None:
    """Kafka has let go of all of it; five of ten offsets of batch 1 were read again."""
    told_by_receipts: dict[str, Any] = {"visible": array([]), "readable": []}
    assert broken(**told_by_receipts) == []
    vanished = without(AGAIN.data, 3)
    (found,) = check(replace(AGAIN, data=vanished, **told_by_receipts))
    assert "10 records of forward-1-1" in found.expected
    assert (found.invariant, found.found) == ("accounted", "4 rows")


def test_a_row_that_is_missing_is_told_of_the_newest_batch_only() -> None:
    told_by_receipts: dict[str, Any] = {"visible": array([]), "readable": []}
    (found,) = check(replace(AGAIN, data=without(AGAIN.data, 7), **told_by_receipts))
    assert "of forward-2-1" in found.expected


def test_a_row_that_a_marker_of_another_copy_has_replaced_is_not_missing() -> None:
    reads = [*AGAIN.reads]
    again = read(1, 5, 20, refused=1, gaps=1, generation=2, version=4)
    (line,) = again.receipts
    reads[2] = replace(again, receipts=[replace(line, never=1)])
    changes: dict[str, object] = {"visible": AGAIN.visible[AGAIN.visible != 7]}
    assert broken(reads=reads, data=without(AGAIN.data, 7), **changes) == []
    reads[2] = again
    assert broken(reads=reads, data=without(AGAIN.data, 7), **changes) == ["accounted"]


def deleted(*gone: int, version: int) -> dict[str, object]:
    there = AGAIN.data.only(np.isin(AGAIN.data.offsets, gone))
    return {"data": without(AGAIN.data, *gone), "deleted": {version: there}}


def test_rows_that_others_deleted_are_not_missing() -> None:
    assert broken(**deleted(2, 7, 25, version=6)) == []


def test_rows_deleted_by_others_excuse_no_other_row() -> None:
    changes = deleted(2, version=6)
    changes["data"] = without(AGAIN.data, 2, 7)
    assert broken(**changes) == ["complete", "accounted"]


def test_what_was_deleted_before_it_was_read_again_must_be_there() -> None:
    lost = {"data": without(AGAIN.data, 7)}
    assert broken(**lost, deleted={3: rows((0, [7]))}) == ["complete", "accounted"]
    assert broken(**lost, deleted={3: rows((0, [7])), 6: rows((2, [7]))}) == []


def test_a_row_deleted_twice_is_counted_once() -> None:
    changes = deleted(7, version=6)
    assert broken(data=changes["data"], deleted={6: rows((2, [7])), 8: rows((2, [7]))}) == []


def test_deleted_rows_that_came_back_are_counted_once() -> None:
    assert broken(deleted={6: rows((2, [7]))}) == []


def commit(version: int, operation: str, *writers: str, restored: int | None = None) -> TableCommit:
    return TableCommit(version, operation, restored, writers)


def test_only_commits_of_others_that_are_in_effect_may_have_deleted_rows() -> None:
    commits = [
        commit(0, "CREATE TABLE"),
        commit(1, "WRITE", "sluice:flights:forward:1"),
        commit(2, "DELETE"),
        commit(3, "OPTIMIZE"),
        commit(4, "MERGE"),
        commit(5, RESTORE, restored=3),
        commit(6, "VACUUM END"),
        commit(7, "WRITE"),
        commit(8, "WRITE", "sluice:flights_2:forward:1"),
    ]
    assert [each.version for each in may_have_deleted("flights", commits)] == [2, 7, 8]
