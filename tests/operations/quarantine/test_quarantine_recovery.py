"""The quarantine table is trusted as the data table is, and there is a way on where it is not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable
from sluice.errors import SparkFailed, TableRefused
from sluice.failpoints import reaching
from sluice.moves import Move
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.quarantine.listing import list_quarantine
from sluice.operations.quarantine.recover_rows import recover_quarantine

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_records, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

FORM = {"type": "json", "schema": "id BIGINT"}
BROKEN = b"{broken"
WAY = Move("quarantine recover", ("trips",))


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Two batches: offsets 2 and 5 cannot be decoded."""
    made = pipeline(topic(retention_ms=-1), format=FORM, quarantine={"max_ratio": 1})
    for _ in range(2):
        produce(made.bootstrap, made.topics[0], [*numbered(2), BROKEN])
        made.run()
    return made


def folder(trips: Installed) -> Path:
    return trips.warehouse / "trips__quarantine"


def table(trips: Installed) -> DeltaTable:
    return DeltaTable(folder(trips))


def dropped(trips: Installed) -> None:
    shutil.rmtree(folder(trips))


def put_back(trips: Installed) -> None:
    """An older copy: all that was written since the first batch is gone."""
    for each in (folder(trips) / "_delta_log").glob("0*"):
        # Spark's checksums, too.
        if int(each.stem.partition(".")[0]) > 2:
            each.unlink()


def created_anew(trips: Installed) -> None:
    schema, properties = table(trips).schema(), table(trips).metadata().configuration
    shutil.rmtree(folder(trips))
    DeltaTable.create(
        folder(trips), schema, configuration=properties, raise_if_key_not_exists=False
    )


def restored(trips: Installed) -> None:
    table(trips).restore(0)


def deleted(trips: Installed) -> None:
    table(trips).delete("_offset > 0")


FAULTS = [dropped, put_back, created_anew, restored, deleted]


def refused(trips: Installed) -> str:
    with pytest.raises(TableRefused) as problem:
        trips.run()
    assert problem.value.moves == (WAY,)
    return str(problem.value)


def recover(trips: Installed, *, bring_back_erased: bool = False) -> None:
    opened = trips.open()
    by = opened.origin("run", "pytest")
    done = recover_quarantine(opened.resources, "a test", by, bring_back_erased)
    if done.work:
        trips.ingest(done.work)
    trips.settle()


def aside(trips: Installed) -> list[int]:
    return sorted(row["_offset"] for row in trips.quarantined())


def is_exact(trips: Installed, *lost: int) -> None:
    trips.run()
    assert not trips.open().verify(lambda *_: None).violations
    if not lost:
        # Nobody has any more what the versions of both batches had in quarantine.
        trips.judge(altered=frozenset({1, 2}))
    losses = [(row["start_offset"], row["end_offset"]) for row in trips.offsets("loss")]
    assert losses == [(each, each + 1) for each in lost]
    listed = list_quarantine(trips.open().resources)
    assert sum(len(group.rows) for group in listed.live) == 2 - len(lost)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.__name__)
def test_a_quarantine_that_lost_rows_is_refused_and_read_again(
    trips: Installed, fault: Callable[[Installed], None]
) -> None:
    before = len(trips.offsets("planned"))
    fault(trips)
    produce(trips.bootstrap, trips.topics[0], numbered(1))
    refused(trips)
    with pytest.raises(TableRefused):
        trips.settle()
    assert len(trips.offsets("planned")) == before, "nothing is written"
    seen = trips.sluice("quarantine recover", "--json")
    assert not json.loads(seen.stdout)["executed"]
    assert len(trips.offsets("planned")) == before
    recover(trips)
    is_exact(trips)
    assert len(trips.rows()) == 5


@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.__name__)
def test_what_retention_has_taken_is_told_as_lost(
    trips: Installed, fault: Callable[[Installed], None]
) -> None:
    fault(trips)
    delete_records(trips.bootstrap, trips.topics[0], 6)
    refused(trips)
    recover(trips)
    is_exact(trips, *((5,) if fault is put_back else (2, 5)))


@pytest.mark.parametrize("point", ["quarantine replaced", "drop recorded", "plan durable"])
def test_a_recovery_that_dies_is_finished_by_the_same_command(trips: Installed, point: str) -> None:
    def dies(found: str) -> None:
        if found == point:
            raise SparkFailed("the process dies")

    dropped(trips)
    delete_records(trips.bootstrap, trips.topics[0], 4)
    with reaching(dies), pytest.raises(SparkFailed):
        recover(trips)
    recover(trips)
    is_exact(trips, 2)


def test_what_others_may_have_deleted_is_shown_and_comes_back_only_if_allowed(
    trips: Installed,
) -> None:
    data = DeltaTable(trips.data)
    data.delete("_offset = 1")
    data.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    dropped(trips)
    seen = trips.sluice("quarantine recover")
    assert "[1, 3): may have been rows that others deleted" in seen.stdout
    assert "--bring-back-erased allows it" in seen.stdout
    assert "--execute --reason … --bring-back-erased does it, and starts a JVM." in seen.stdout
    done = trips.sluice("quarantine recover", "--execute", "--reason", "a test")
    assert done.returncode == 1
    assert "`sluice quarantine recover trips --bring-back-erased --execute" in done.stderr
    assert not folder(trips).exists(), "nothing is written"
    recover(trips, bring_back_erased=True)
    assert aside(trips) == [2, 5]
    assert len(trips.rows()) == 4


def test_rows_that_do_not_count_may_go(trips: Installed) -> None:
    whole = offset_ranges([f"{trips.topics[0]}[0] [0, 6)"])
    trips.ingest(trips.open().backfill(whole, "run", "pytest").work)
    trips.settle()
    assert aside(trips) == [2, 2, 5, 5]
    table(trips).delete("_batch LIKE 'forward-%'")
    is_exact(trips)


def test_a_restore_that_takes_no_row_is_no_fault(trips: Installed) -> None:
    newest = table(trips).version()
    table(trips).delete("_offset > 0")
    table(trips).restore(newest)
    is_exact(trips)
    assert table(trips).version() == newest + 2, "an idle run writes nothing"


def test_a_receipt_and_later_plans_name_the_table(trips: Installed) -> None:
    named = table(trips).metadata().id
    ids = [row["quarantine_table_id"] for row in trips.offsets("committed")]
    assert ids == [named, named]
    assert [row["quarantine_table_id"] for row in trips.offsets("planned")] == [None, named]
    assert None not in {row["complete_until"] for row in trips.offsets("planned")}
