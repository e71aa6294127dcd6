"""Columns of the offsets table say what its rows say, of the batches and offsets asked for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.range_columns import OffsetScope, RangeColumns
from sluice.offsets.ranges import OffsetRange, TopicIdPartition
from sluice.offsets.receipts import receipt_without_gaps
from sluice.tables.offsets_appends import append_plan, append_receipt
from sluice.tables.offsets_snapshot import OffsetsSnapshot
from sluice.tables.offsets_table import OffsetsTable

from tests.unit.builders import CLUSTER, TOPIC_ID, offsets, planned, sequence

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
FORWARD, AGAIN = sequence(), sequence(generation=2)
BACKFILL = sequence(lane="backfill")
TOLD = tuple[str, str, int, int, int]


def batch(of: BatchSequence, number: int) -> Batch:
    """Ten offsets of partition 0, none of partition 1."""
    ranges = (offsets(10 * number, 10 * number + 10, 0), offsets(5, 5, 1))
    return Batch(of, number, "append", CLUSTER, tuple(map(planned, ranges)))


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> OffsetsSnapshot:
    """Three generations' worth of batches, each settled at its number past noon but the last."""
    folder: Path = tmp_path_factory.mktemp("offsets")
    table = OffsetsTable(str(folder / "t__offsets"), "flights", str(folder / "none"))
    for each in (FORWARD, BACKFILL, AGAIN):
        batches = tuple(batch(each, number) for number in range(1, 6))
        append_plan(table.snapshot_to_write(), Plan(batches), Origin("r", "a", NOON))
        for one in batches[:4]:
            origin = Origin("r", "a", NOON + timedelta(minutes=one.number))
            receipt = receipt_without_gaps(one, data_version=100 + one.number)
            append_receipt(table.snapshot(), receipt, origin)
    return table.snapshot()


def told(found: RangeColumns) -> list[TOLD]:
    return sorted(_told(found))


def _told(found: RangeColumns) -> Iterator[TOLD]:
    for index in range(len(found)):
        name = found.sequences[found.sequence[index]].batch(int(found.number[index]))
        yield (
            name,
            str(found.range(index)),
            int(found.version[index]),
            int(found.records[index]),
            int(found.quarantined[index]),
        )


def test_the_ranges_of_some_batches_are_those_of_their_rows(snapshot: OffsetsSnapshot) -> None:
    found = snapshot.columns.ranges("planned", {FORWARD: (2, 4), AGAIN: (5, 5)})
    expected = [*snapshot.batches(FORWARD, 2, last=4), *snapshot.batches(AGAIN, 5, last=5)]
    ranges = [(str(each), str(one.offsets), -1, -1, -1) for each in expected for one in each.ranges]
    assert told(found) == sorted(ranges)
    assert len(found) == 8


def test_the_ranges_of_receipts_have_their_counts_and_their_version(
    snapshot: OffsetsSnapshot,
) -> None:
    found = snapshot.columns.ranges("committed", {BACKFILL: (4, 9)})
    assert told(found) == [
        ("backfill-1-4", "flights[0] [40, 50)", 104, 10, 0),
        ("backfill-1-4", "flights[1] [5, 5)", 104, 0, 0),
    ]


def test_a_scope_leaves_out_the_ranges_without_its_offsets(snapshot: OffsetsSnapshot) -> None:
    place = TopicIdPartition(TOPIC_ID, 0)
    scope = OffsetScope.of_ranges({place: [OffsetRange(offsets(0, 0).partition, 29, 31)]})
    found = snapshot.columns.ranges("planned", {FORWARD: (1, 5), BACKFILL: (1, 2)}, scope)
    assert [name for name, *_ in told(found)] == ["backfill-1-2", "forward-1-2", "forward-1-3"]
    mine = found.at(place)
    assert [mine.range(index).start for index in range(len(mine))] == [20, 30, 20]
    assert len(found.at(TopicIdPartition(TOPIC_ID, 1))) == 0


def test_receipts_since_a_moment_are_found_by_when_they_were_recorded(
    snapshot: OffsetsSnapshot,
) -> None:
    since = NOON + timedelta(minutes=3)
    found = snapshot.columns.ranges(
        "committed", {AGAIN: (1, 5)}, also=[("recorded_at", ">=", since)]
    )
    assert {name for name, *_ in told(found)} == {"forward-2-3", "forward-2-4"}


def test_nothing_is_found_of_no_batches_and_in_no_table(snapshot: OffsetsSnapshot) -> None:
    assert told(snapshot.columns.ranges("planned", {})) == []
    assert told(OffsetsSnapshot("flights", None).columns.ranges("planned", {FORWARD: (1, 9)})) == []


def test_every_partition_of_the_plans_is_named_once(snapshot: OffsetsSnapshot) -> None:
    places = [TopicIdPartition(TOPIC_ID, number) for number in (0, 1)]
    assert snapshot.columns.places("planned") == {
        place: offsets(0, 0, place.partition).partition for place in places
    }
