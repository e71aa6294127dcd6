"""Zombies: a frozen run goes on after others have done its work; nothing is written twice."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import psutil
import pytest
from deltalake import DeltaTable
from sluice.operations.reset.targets import to_earliest

from local.embedded.waiting import until
from tests.faults.striking import BOTH_PLACES, Faulty, frozen
from tests.worlds.pipelines import Installed, more
from tests.worlds.processes import Run
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark, BOTH_PLACES]

LATER = 5
JSON = {"type": "json", "schema": "id BIGINT"}

Quarantine = tuple[int, list[dict[str, Any]]]


def test_a_frozen_commit_wakes_up_five_batches_later(faulty: Faulty) -> None:
    trips = faulty()
    more(trips, 10)
    zombie, jvm = frozen(trips, "files written")
    assert (trips.version(), trips.rows()) == (0, [])
    trips.run()
    assert (trips.version(), len(trips.rows())) == (1, 10)
    for number in range(LATER):
        more(trips, 4, 10 + 4 * number)
        trips.run()
    landed, version, files = trips.ranges("committed"), trips.version(), live_files(trips)
    assert len(landed) == 1 + LATER
    jvm.resume()
    done = zombie.end()
    assert done.returncode == 0, done.stderr
    assert "forward-1-1: superseded by version 1 of the data table" in done.stderr
    assert "committed although" not in done.stderr
    assert trips.ranges("committed") == landed
    assert (trips.version(), live_files(trips)) == (version, files)
    assert trips.judge().facts.rows == 10 + 4 * LATER


@pytest.mark.parametrize("layout", [{}, {"cluster_by": ["_offset"]}], ids=["plain", "clustered"])
def test_a_zombie_of_a_closed_generation_cannot_land(
    faulty: Faulty, layout: dict[str, list[str]]
) -> None:
    """Also where the fence is not delta-rs' own: in a clustered table."""
    trips = faulty(**layout)
    more(trips, 10)
    trips.run()
    more(trips, 5, 10)
    zombie, jvm = frozen(trips, "files written")
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    trips.run()
    version, files = trips.version(), live_files(trips)
    assert {row["_batch"] for row in trips.rows()} == {"forward-2-1"}
    jvm.resume()
    done = zombie.end()
    assert done.returncode == 0, done.stderr
    assert "forward-1-2: superseded by a reset, which closed its generation at" in done.stderr
    assert (trips.version(), live_files(trips)) == (version, files)
    assert trips.judge().facts.rows == 15


def test_a_zombie_leaves_no_hole_in_a_log_that_was_put_back(faulty: Faulty, tmp_path: Path) -> None:
    """T6: and whoever follows the messages gets on."""
    trips = faulty()
    log, copy = trips.data / "_delta_log", tmp_path / "copy"
    more(trips, 10)
    trips.run()
    shutil.copytree(log, copy)
    more(trips, 5, 10)
    trips.run()
    more(trips, 5, 15)
    zombie, jvm = frozen(trips, "files written")
    shutil.rmtree(log)
    shutil.copytree(copy, log)
    before = trips.version()
    jvm.resume()
    done = zombie.end()
    assert done.returncode == 1, done.stderr
    assert "expected the version before it in the table's log, found none" in done.stderr
    assert trips.version() == before
    said = trips.process("run").stderr
    assert "--to-table" in said
    done = trips.process("reset", "--to-table", "--execute", "--reason", "put back")
    assert done.returncode == 0, done.stderr
    trips.run()
    assert trips.judge().facts.rows == 20


def live_files(trips: Installed) -> set[str]:
    return set(DeltaTable(trips.data).file_uris())


def test_a_frozen_driver_finds_its_later_batches_committed(faulty: Faulty) -> None:
    """Only Python is frozen; the JVM ends the write that it is at."""
    trips = faulty(max_records_per_batch=2)
    more(trips, 12)
    zombie = trips.start("run")
    first = trips.data / "_delta_log" / f"{1:020}.json"
    until(first.exists, "the first batch", 120, pause=0.001)
    driver = psutil.Process(zombie.process.pid)
    driver.suspend()
    until(lambda: driver.status() == psutil.STATUS_STOPPED, "a frozen driver")
    trips.run()
    landed = trips.ranges("committed")
    assert len(landed) == 6
    files = live_files(trips)
    driver.resume()
    done = zombie.end()
    assert done.returncode == 0, done.stderr
    assert (trips.ranges("committed"), live_files(trips)) == (landed, files)
    assert trips.judge().facts.rows == 12


@pytest.mark.parametrize("point", ["quarantine files written", "files written"])
def test_a_zombie_leaves_the_quarantine_of_a_committed_batch_alone(
    faulty: Faulty, point: str
) -> None:
    trips = faulty(format=JSON, quarantine={"max_ratio": 0.5})
    produce(trips.bootstrap, trips.topics[0], [*numbered(4), b"{broken", *numbered(2)])
    zombie, jvm = frozen(trips, point)
    before = quarantine(trips)
    trips.run()
    after = quarantine(trips)
    assert after != before, "the winner has written them anew"
    comes_too_late(trips, zombie, jvm, after)


def test_a_zombie_that_was_about_to_quarantine_finds_the_batch_committed(faulty: Faulty) -> None:
    trips = faulty(format=JSON, quarantine={"max_ratio": 0.5})
    produce(trips.bootstrap, trips.topics[0], [*numbered(4), b"{broken", *numbered(2)])
    zombie, jvm = frozen(trips, "quarantine creation")
    assert trips.rows() == []
    trips.run()
    after = quarantine(trips)
    comes_too_late(trips, zombie, jvm, after, "forward-1-1: committed meanwhile")


def comes_too_late(
    trips: Installed,
    zombie: Run,
    jvm: psutil.Process,
    after: Quarantine,
    said: str = "forward-1-1: superseded by version",
) -> None:
    """It goes on, says who was first, and leaves the quarantine as the winner wrote it."""
    assert [row["_offset"] for row in after[1]] == [4]
    jvm.resume()
    done = zombie.end()
    assert done.returncode == 0, done.stderr
    assert said in done.stderr
    assert quarantine(trips) == after
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (6, 1)


def quarantine(trips: Installed) -> Quarantine:
    """The quarantine table's version and rows."""
    table = DeltaTable(trips.warehouse / f"{trips.name}__quarantine")
    return table.version(), trips.quarantined()
