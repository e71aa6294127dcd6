"""Maintenance: dead weight goes, whatever runs beside it; what counts stays, and what may count."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable
from sluice.errors import ResetNeeded, SettingsError, TooManyQuarantined
from sluice.offsets.quarantined import RecordState
from sluice.operations.maintain import MaintenanceResult
from sluice.operations.reset.targets import to_earliest, to_table
from sluice.progress.quarantined_records import read_quarantined
from sluice.tables.retention import PROPERTY

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.processes import killed_at
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


STRICT = {"type": "json", "schema": "at TIMESTAMP"}
MENDED = {**STRICT, "timestamp_unit": "s"}
GOOD, NUMBER, BROKEN = b'{"at": "2013-01-01T05:00:00Z"}', b'{"at": 1357016400}', b'{"at": '


def send(trips: Installed, *values: bytes) -> None:
    produce(trips.bootstrap, trips.topics[0], values)


def maintain(trips: Installed) -> MaintenanceResult:
    return trips.open().maintain("test", "pytest")


def aside(trips: Installed) -> dict[str, RecordState]:
    """`batch@offset` → what the row counts."""
    rows = read_quarantined(trips.open().resources).rows
    return {f"{row.batch}@{row.offset}": row.state for row in rows}


def fails(trips: Installed, *values: bytes) -> None:
    """A batch that leaves rows in quarantine and is not committed."""
    send(trips, *values)
    trips.write_spec(quarantine={"max_ratio": 0})
    with pytest.raises(TooManyQuarantined):
        trips.ingest(trips.plan())
    trips.write_spec(quarantine={"max_ratio": 1})


def aged(folder: Path, age: timedelta = timedelta(days=8)) -> None:
    """Let a table's log, or a file, be old."""
    files = (folder / "_delta_log").glob("*.json") if folder.is_dir() else [folder]
    for file in files:
        os.utime(file, (time.time() - age.total_seconds(),) * 2)


def test_rows_go_when_they_count_no_more_and_cannot_come_back(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), format=STRICT, quarantine={"max_ratio": 1})
    send(trips, GOOD, NUMBER, BROKEN)
    trips.run()
    first = DeltaTable(trips.data).version()
    fails(trips, NUMBER)
    trips.open().reset(to_earliest, "the unit was missing", "run", "pytest")
    trips.write_spec(format=MENDED)
    trips.run()
    fails(trips, BROKEN)
    before = {
        "forward-1-1@1": RecordState.SUPERSEDED,
        "forward-1-1@2": RecordState.SUPERSEDED,
        "forward-1-2@3": RecordState.UNDONE,
        "forward-2-1@2": RecordState.LIVE,
        "forward-2-2@4": RecordState.WAITING,
    }
    assert aside(trips) == before
    week = (datetime.now(UTC) + timedelta(days=7)).strftime("%Y-%m-%d")
    assert f"removes 1 of them now, and all after {week} " in removal_told(trips)
    assert maintain(trips).removed == 1
    del before["forward-1-2@3"]
    assert aside(trips) == before, "what a RESTORE may bring back stays, and what may be committed"
    assert f"removes 0 of them now, and all after {week} " in removal_told(trips)
    a_restore_finds_what_it_needs(trips, first)
    trips.run()
    assert aside(trips)["forward-1-1@1"] == RecordState.SUPERSEDED
    assert maintain(trips).removed == 1, "of the undone generation 2, what never landed"
    assert aside(trips)["forward-2-1@2"] == RecordState.UNDONE, "a RESTORE may bring it back"
    aged(trips.data)
    assert removal_told(trips).endswith(": 3; `sluice maintain trips` removes them")
    # @1 and @2 of the first batch, and what has landed in the undone generation 2.
    assert maintain(trips).removed == 3
    assert aside(trips) == {"forward-4-1@2": RecordState.LIVE, "forward-4-1@4": RecordState.LIVE}
    assert maintain(trips).removed == 0
    assert trips.judge(timestamp_unit="s").facts.quarantined == 2
    a_retention_below_the_longest_run_is_refused(trips)


def removal_told(trips: Installed) -> str:
    """What `sluice quarantine list` says of rows that no longer count."""
    *_, last = trips.sluice("quarantine list").stdout.splitlines()
    assert last.startswith("rows that no longer count: ")
    return last


def a_restore_finds_what_it_needs(trips: Installed, version: int) -> None:
    DeltaTable(trips.data).restore(version)
    before = aside(trips)
    with pytest.raises(ResetNeeded):
        maintain(trips)
    assert aside(trips) == before
    trips.open().reset(to_table, "an analyst's RESTORE", "run", "pytest")
    assert aside(trips) == {
        "forward-1-1@1": RecordState.LIVE,
        "forward-1-1@2": RecordState.LIVE,
        "forward-2-1@2": RecordState.UNDONE,
        "forward-2-2@4": RecordState.UNDONE,
    }
    trips.open().reset(to_earliest, "the unit was missing", "run", "pytest")


@pytest.mark.spark
def test_beside_running_pipelines_nothing_is_lost_and_no_batch_fails_for_good(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), format=STRICT, quarantine={"max_ratio": 1})
    for _ in range(4):
        send(trips, *[GOOD] * 4, BROKEN)
        trips.run()
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    trips.write_spec(max_records_per_batch=4)
    old, young = (trips.data / f"{name}.parquet" for name in ("old", "young"))
    for file in (old, young):
        file.write_bytes(b"nobody names it")
    aged(old)
    killed = trips.start("maintain", **killed_at("quarantine cleared"))
    another = trips.start("maintain", "--json")
    together(trips, killed.process.poll, another.process.poll)
    assert killed.end().returncode < 0
    done = another.end()
    assert (done.returncode, '"left_for_next_time"' in done.stdout) == (0, True), done.stderr
    assert (old.exists(), young.exists()) == (False, True)
    facts = trips.judge().facts
    assert facts.quarantined >= 4
    files = len(DeltaTable(trips.data).file_uris())
    assert maintain(trips).postponed == ()
    operations = [each["operation"] for each in DeltaTable(trips.data).history(10)]
    assert "OPTIMIZE" in operations
    assert len(DeltaTable(trips.data).file_uris()) == 1 < files
    offsets = DeltaTable(trips.warehouse / "trips__offsets")
    assert len(offsets.file_uris()) == len(offsets.partitions()), "a file for each event"
    assert replace(trips.judge().facts, versions=facts.versions) == facts


def together(trips: Installed, *ended: Callable[[], int | None]) -> None:
    """Small batches, one after the other, until all of the others have ended."""
    while any(each() is None for each in ended):
        send(trips, GOOD, BROKEN)
        trips.run()


def a_retention_below_the_longest_run_is_refused(trips: Installed) -> None:
    DeltaTable(trips.data).alter.set_table_properties({PROPERTY: "interval 1 hour"})
    version = trips.version()
    with pytest.raises(SettingsError, match="at least 6 hours"):
        maintain(trips)
    assert trips.version() == version
