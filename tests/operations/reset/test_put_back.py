"""The data table is put back from a file backup, or forgets its transactions: `--to-table`."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from deltalake import DeltaTable
from sluice.errors import TableRefused
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.targets import shift_by, to_earliest

from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more
from tests.worlds.processes import killed_at

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline of two partitions, one of them idle, that has landed two batches of ten."""
    return landed(pipeline(topic(2)))


def copy_of(trips: Installed) -> Path:
    backup = trips.folder / "backup"
    shutil.copytree(trips.data, backup)
    return backup


def put_back(trips: Installed, backup: Path) -> None:
    shutil.rmtree(trips.data)
    backup.rename(trips.data)


def refused(trips: Installed, *texts: str) -> None:
    """Nothing goes on, not even another reset; the way back is named."""
    for step in (trips.plan, trips.settle, lambda: trips.open().preview_reset(to_earliest)):
        with pytest.raises(TableRefused) as problem:
            step()
        for text in (*texts, "`sluice reset trips --to-table`"):
            assert text in str(problem.value)


def leads_on(trips: Installed, rows: int) -> None:
    shown = trips.sluice("reset", "--to-table")
    assert (shown.returncode, "Nothing was changed" in shown.stdout) == (0, True), shown.stderr
    done = trips.sluice("reset", "--to-table", "--execute", "--reason", "the disk was replaced")
    assert done.returncode == 0, done.stderr
    trips.run()
    assert trips.judge().facts.rows == rows
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stdout


def test_a_backup_put_back_is_read_on_from_its_last_batch(trips: Installed) -> None:
    backup = copy_of(trips)
    more(trips, 10, 20)
    trips.run()
    put_back(trips, backup)
    refused(trips, "an older copy was put back", "found forward-1-2")
    leads_on(trips, rows=30)
    closed = {
        (row["closed_at"], row["cursor_before"], row["cursor_after"])
        for row in trips.offsets("reset_done")
        if row["lane"] == "forward"
    }
    assert closed == {(2, 30, 20), (2, 0, 0)}
    assert trips.ranges()["forward-2-1"] == {"[0]": (20, 30), "[1]": (0, 0)}


def test_a_backup_put_back_behind_a_reset_closes_every_generation_again(trips: Installed) -> None:
    backup = copy_of(trips)
    more(trips, 10, 20)
    trips.run()
    read_again(trips, 0, 5)
    trips.open().reset(shift_by(-5), "a rewind", "run", "pytest")
    more(trips, 10, 30)
    trips.run()
    trips.open().reset(shift_by(0), "once more", "run", "pytest")
    put_back(trips, backup)
    refused(trips, "expected the fences of forward-1, backfill-1, forward-2, backfill-2")
    leads_on(trips, rows=40)
    closed = {
        row["generation"]: row["closed_at"]
        for row in trips.offsets("reset_done")
        if row["lane"] == "forward"
    }
    assert closed[4] == 0
    assert trips.open().resources.offsets.snapshot().resets().by_generation[2].closed_at == {
        "forward": 2,
        "backfill": 0,
    }
    assert trips.ranges()["forward-4-1"] == {"[0]": (20, 40), "[1]": (0, 0)}


def read_again(trips: Installed, start: int, end: int) -> None:
    selection = offset_ranges([f"{trips.topics[0]}[0] [{start}, {end})"])
    work = trips.open().backfill(selection, "run", "pytest").work
    trips.ingest(work)
    trips.settle()


@pytest.mark.spark
def test_a_right_table_put_back_after_a_reset_that_died_goes_on(trips: Installed) -> None:
    """What the dead reset intended has lowered nothing yet: the newest copy counts in full."""
    backup = copy_of(trips)
    more(trips, 10, 20)
    trips.run()
    trips.open().reset(shift_by(0), "a test", "run", "pytest")
    newest = trips.data.rename(trips.folder / "newest")
    shutil.copytree(backup, trips.data)
    killed = trips.process(
        *("reset", "--to-table", "--execute", "--reason", "a test"),
        **killed_at("reset intended"),
    )
    assert killed.returncode != 0
    put_back(trips, newest)
    more(trips, 10, 30)
    trips.run()
    assert trips.judge().facts.rows == 40


@pytest.mark.spark
@pytest.mark.parametrize("point", ["reset intended", "fence stands"])
def test_a_reset_to_a_table_put_back_that_dies_is_given_again(trips: Installed, point: str) -> None:
    backup = copy_of(trips)
    more(trips, 10, 20)
    trips.run()
    trips.open().reset(shift_by(0), "a test", "run", "pytest")
    put_back(trips, backup)
    command = ("reset", "--to-table", "--execute", "--reason", "a test")
    assert trips.process(*command, **killed_at(point)).returncode != 0
    again = trips.sluice(*command)
    assert again.returncode == 0, again.stderr
    trips.run()
    assert trips.judge().facts.rows == 30


@pytest.mark.spark
@pytest.mark.parametrize("with_reset", [False, True], ids=["open", "behind a reset"])
def test_transactions_that_have_expired_are_read_from_the_log(
    trips: Installed, with_reset: bool
) -> None:
    if with_reset:
        trips.open().reset(shift_by(0), "a test", "run", "pytest")
        more(trips, 10, 20)
        trips.run()
    expire(trips)
    refused(trips, "found no batch")
    more(trips, 10, 40)
    leads_on(trips, rows=40 if with_reset else 30)


def expire(trips: Installed) -> None:
    """As Delta does it: with the property set, a checkpoint leaves expired ids out."""
    expiring = "'delta.setTransactionRetentionDuration' = 'interval 1 seconds'"
    often = "'delta.checkpointInterval' = '1'"
    alter = f"ALTER TABLE delta.`{trips.data}`"
    trips.session().sql(f"{alter} SET TBLPROPERTIES ({expiring}, {often})")
    time.sleep(2)
    trips.session().sql(f"{alter} SET TBLPROPERTIES ('note' = 'one more commit')")
    trips.session().sql(
        f"{alter} UNSET TBLPROPERTIES ('delta.setTransactionRetentionDuration',"
        " 'delta.checkpointInterval')"
    )
    assert not DeltaTable(trips.data).transaction_version("sluice:trips:forward:1")
