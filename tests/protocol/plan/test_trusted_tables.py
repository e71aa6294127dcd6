"""A table that is not the known one is refused at every look, also before the first receipt."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace

import pytest
from deltalake import DeltaTable
from sluice.errors import CommitFailed, TableRefused
from sluice.operations.reset.targets import Target, shift_by, to_earliest

from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that has landed two batches of ten records."""
    return landed(pipeline(topic()))


def reset(trips: Installed, target: Target) -> None:
    trips.open().reset(target, "a test", "run", "pytest")


def refused(trips: Installed, *texts: str) -> None:
    """No step and no reset goes on; nothing was written."""
    rows = len(trips.rows("trips__offsets"))
    version = trips.version()
    steps: list[Callable[[], object]] = [
        trips.plan,
        trips.settle,
        lambda: reset(trips, to_earliest),
        lambda: reset(trips, shift_by(0)),
        lambda: trips.open().dry_run(),
    ]
    for step in steps:
        with pytest.raises(TableRefused) as problem:
            step()
        for text in texts:
            assert text in str(problem.value)
    assert (len(trips.rows("trips__offsets")), trips.version()) == (rows, version)


def test_a_table_put_back_from_a_copy_after_a_reset_is_refused(trips: Installed) -> None:
    """The window until the generation's first receipt: on a quiet topic, days."""
    copy = shutil.copytree(trips.data, trips.folder / "last night")
    more(trips, 10, 20)
    trips.run()
    reset(trips, shift_by(0))
    newer = trips.data.rename(trips.folder / "newer")
    copy.rename(trips.data)
    more(trips, 10, 30)
    refused(trips, "an older copy was put back", "sluice reset trips --to-table")
    trips.data.rename(copy)
    newer.rename(trips.data)
    trips.run()
    assert trips.judge().facts.rows == 40


def test_a_table_dropped_after_a_reset_is_refused_and_not_created_again(trips: Installed) -> None:
    reset(trips, shift_by(0))
    aside = trips.data.rename(trips.folder / "aside")
    more(trips, 10, 20)
    refused(trips, "found no table", "sluice recover trips")
    assert not trips.data.exists()
    aside.rename(trips.data)
    trips.run()
    assert trips.judge().facts.rows == 30


def test_a_table_dropped_under_a_plan_is_not_created_again(trips: Installed) -> None:
    more(trips, 10, 20)
    work = trips.plan()
    aside = trips.data.rename(trips.folder / "aside")
    with pytest.raises(TableRefused, match="found no table"):
        trips.ingest(work)
    assert not trips.data.exists()
    aside.rename(trips.data)
    trips.run()
    assert trips.judge().facts.rows == 30


def test_rows_name_the_table_they_speak_of(trips: Installed) -> None:
    table_id = DeltaTable(trips.data).metadata().id
    named = {
        event: [row["data_table_id"] for row in trips.offsets(event)]
        for event in ("planned", "committed")
    }
    assert named == {"planned": [None, table_id], "committed": [table_id, table_id]}


def test_a_fence_has_a_time_so_that_it_does_not_expire_at_once(trips: Installed) -> None:
    reset(trips, shift_by(0))
    log = trips.data / "_delta_log" / f"{trips.version():020d}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    fences = [each["txn"] for each in actions if "txn" in each]
    assert len(fences) == 2
    assert all(each["lastUpdated"] > 1_700_000_000_000 for each in fences)


def test_a_missing_warehouse_is_no_new_pipeline(trips: Installed) -> None:
    aside = trips.warehouse.rename(trips.folder / "not mounted")
    more(trips, 10, 20)
    for step in (trips.plan, lambda: trips.open().dry_run()):
        with pytest.raises(TableRefused) as problem:
            step()
        assert f"consumer group {trips.group} stands at {trips.topics[0]}[0]@20" in str(
            problem.value
        )
    assert not list(trips.warehouse.glob("*")), "nothing is written where the mount should be"
    assert "Check the mount" in trips.sluice("recover").stderr
    shutil.rmtree(trips.warehouse, ignore_errors=True)
    aside.rename(trips.warehouse)
    trips.run()
    assert trips.judge().facts.rows == 30


def test_a_new_pipeline_may_go_on_where_its_group_stands(trips: Installed) -> None:
    trips.warehouse.rename(trips.folder / "given up")
    trips.write_spec(start={"group": trips.group})
    more(trips, 10, 20)
    trips.run()
    assert [row["_offset"] for row in trips.rows()] == list(range(20, 30))


def test_a_batch_does_not_land_behind_one_that_the_table_has_lost(trips: Installed) -> None:
    """An older copy is put back between two batches of a run, before either has a receipt."""
    trips.write_spec(max_records_per_batch=10)
    copy = shutil.copytree(trips.data, trips.folder / "copy")
    more(trips, 20, 20)
    work = trips.plan()
    trips.ingest(work.first(1))
    trips.data.rename(trips.folder / "newer")
    copy.rename(trips.data)
    with pytest.raises(CommitFailed, match="expected forward-1-3 to be committed before it"):
        trips.ingest(replace(work, batches=work.batches[1:]))
    trips.run()
    assert trips.judge().facts.rows == 40
