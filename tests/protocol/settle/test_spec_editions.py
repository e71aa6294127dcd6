"""Spec editions: a batch's plan, commit and receipt say which spec decided its rows."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.operations.history import read_batch

from tests.worlds.pipelines import Installed, Pipelines, Topic, more

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

NUMBERS = {"type": "json", "schema": "number BIGINT", "allow_unmatched": True}
TEXTS = {"type": "json", "schema": "number BIGINT, note STRING", "allow_unmatched": True}


def without_editions(trips: Installed) -> None:
    """The offsets table as an older Sluice has made it: it had no such column."""
    uri, old = trips.warehouse / f"{trips.name}__offsets", trips.folder / "old"
    table = DeltaTable(uri)
    rows = pa.table(table.to_pyarrow_table().drop_columns(["spec"]))
    names = [f"sluice:{trips.name}:forward:1{each}" for each in ("", ":settled")]
    said = [Transaction(each, table.transaction_version(each) or 0) for each in names]
    DeltaTable.create(
        old,
        rows.schema,
        partition_by=["event"],
        configuration=table.metadata().configuration,
        raise_if_key_not_exists=False,
    )
    by = CommitProperties(app_transactions=said)
    write_deltalake(old, rows, mode="append", commit_properties=by)
    shutil.rmtree(uri)
    old.rename(uri)


def test_a_spec_that_is_mended_between_plan_and_commit_is_told_by_both(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), format=NUMBERS)
    more(trips, 5)
    work = trips.plan()
    trips.write_spec(format=TEXTS)
    trips.ingest(work)
    trips.settle()
    found = read_batch(trips.open().resources, "forward-1-1")
    assert found.planned_with
    assert found.read_with
    assert found.planned_with.keys["format"] == NUMBERS
    assert found.read_with.keys["format"] == TEXTS
    trips.judge()


def test_an_offsets_table_from_before_goes_on_and_says_what_it_knows(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), format=NUMBERS)
    more(trips, 5)
    trips.run()
    without_editions(trips)
    assert read_batch(trips.open().resources, "forward-1-1").planned_with is None
    assert "read with: not recorded" in trips.sluice("history", "--batch", "forward-1-1").stdout
    more(trips, 5, first=5)
    trips.run()
    found = read_batch(trips.open().resources, "forward-1-2")
    assert found.planned_with == found.read_with is not None
    trips.judge()


def test_one_row_of_a_batch_says_it(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(partitions=3), format=NUMBERS)
    more(trips, 5)
    trips.run()
    for event in ("planned", "committed"):
        told = [row["spec"] is not None for row in trips.offsets(event)]
        assert told == [True, False, False], event
