"""What is told of landed batches is what their receipts say, also of one that replaced rows."""

from __future__ import annotations

import pytest
from sluice.offsets.batches import BatchReference
from sluice.operations.backfill.selection import parse_selection
from sluice.protocol.ingest.landed import read_landed

from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


def told(trips: Installed, work: BatchReference) -> list[tuple[str, int | None, int | None]]:
    found = read_landed(trips.open().resources, work)
    return [(str(each.batch), each.version, each.rows) for each in found]


def receipts(trips: Installed) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for row in trips.offsets("committed"):
        _, records = found.get(row["batch"], (0, 0))
        found[row["batch"]] = (row["data_version"], records + row["records"])
    return found


def test_batches_are_told_once_they_are_committed(topic: Topic, pipeline: Pipelines) -> None:
    trips = landed(pipeline(topic(2), max_records_per_batch=10), 1)
    more(trips, 15, 10)
    work = trips.plan()
    assert told(trips, work) == []
    trips.ingest(work)
    trips.settle()
    assert told(trips, work) == [
        (name, *receipts(trips)[name]) for name in ("forward-1-2", "forward-1-3")
    ]
    assert told(trips, work.first(0)) == []


def test_of_a_batch_that_replaced_rows_only_its_own_are_counted(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic()), 1)
    asked = parse_selection(None, None, [f"{trips.topics[0]}[0] [2, 6)"], [])
    work = trips.open().backfill(asked, "test", "pytest").work
    trips.ingest(work)
    trips.settle()
    assert told(trips, work) == [("backfill-1-1", *receipts(trips)["backfill-1-1"])]
    assert receipts(trips)["backfill-1-1"][1] == 4
    trips.judge()
