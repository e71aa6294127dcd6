"""One reset after another, or beside another: none is applied twice, and nothing is read twice."""

from __future__ import annotations

from datetime import UTC, datetime

import psutil
import pytest
from deltalake import DeltaTable
from sluice.offsets.origin import Origin
from sluice.offsets.ranges import TopicPartition
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.close_generation import start_generation
from sluice.operations.reset.targets import (
    ToIntended,
    shift_by,
    to_latest,
    to_offsets,
    to_table,
)
from sluice.operations.status import PipelineStatus

from local.embedded.waiting import until
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more
from tests.worlds.processes import Run, killed_at
from tests.worlds.records import delete_records

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

WHO = ("test", "pytest")


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    return landed(pipeline(topic(2)))


def passed_over(trips: Installed) -> None:
    """Ten records that a reset passes over, and that a backfill reads all the same."""
    more(trips, 10, 20)
    trips.open().reset(to_latest, "skip the backlog", *WHO)
    backfill(trips, 20, 30)


def backfill(trips: Installed, start: int, end: int) -> None:
    asked = offset_ranges([f"{trips.topics[0]}[0] [{start}, {end})"])
    trips.ingest(trips.open().backfill(asked, *WHO).work)
    trips.settle()


def frozen(trips: Installed, point: str, *args: str) -> tuple[Run, psutil.Process]:
    """A reset that stands still at a step."""
    point = f"{point}: freeze"
    run = trips.start("reset", *args, SLUICE_TEST="1", SLUICE_FAILPOINT=point)
    process = psutil.Process(run.process.pid)
    until(lambda: process.status() == psutil.STATUS_STOPPED, "a frozen reset")
    return run, process


def test_what_a_backfill_filled_is_replaced_although_its_generation_read_nothing(
    trips: Installed,
) -> None:
    passed_over(trips)
    moved = to_offsets({TopicPartition(trips.topics[0], 0): 20})
    trips.open().reset(moved, "from there after all", *WHO)
    trips.run()
    modes = {row["batch"]: row["mode"] for row in trips.offsets("planned")}
    assert modes["forward-3-1"] == "replace"
    assert trips.judge().facts.rows == 30


def test_of_a_backfill_that_a_restore_undid_the_reset_names_the_way_back(trips: Installed) -> None:
    more(trips, 10, 20)
    trips.open().reset(to_latest, "skip the backlog", *WHO)
    before = trips.version()
    assert before is not None
    backfill(trips, 20, 30)
    DeltaTable(trips.data).restore(before)
    command = f"`sluice reprocess trips --range '{trips.topics[0]}[0] [20, 30)'`"
    assert command not in trips.sluice("plan").stderr, "it would be refused as well"
    assert "The next run is refused: " in trips.sluice("status").stdout
    assert command in trips.open().preview_reset(to_table).summary
    done = trips.sluice("reset", "--to-table", "--execute", "--reason=a RESTORE")
    assert done.returncode == 0, done.stderr
    assert command in done.stderr
    trips.run()
    assert trips.judge().facts.rows == 20
    backfill(trips, 20, 30)
    assert trips.judge().facts.rows == 30


@pytest.mark.spark
def test_a_frozen_reset_leaves_the_next_one_alone(trips: Installed) -> None:
    """It finds its generation closed by another, and does not record the next one as done."""
    again = ("--shift-by=0", "--execute", "--reason=first")
    late, process = frozen(trips, "fence stands", *again)
    more(trips, 10, 20)
    work = trips.plan()
    second = ("--shift-by=0", "--execute", "--reason=second")
    assert trips.process("reset", *second, **killed_at("reset intended")).returncode != 0
    trips.ingest(work)
    process.resume()
    done = late.end()
    assert done.returncode == 0, done.stderr
    assert {row["generation"] for row in trips.offsets("reset_done")} == {2}
    more(trips, 10, 30)
    trips.run()
    assert {row["generation"] for row in trips.offsets("reset_done")} == {2, 3}
    assert trips.judge().facts.rows == 40


@pytest.mark.spark
def test_a_reset_that_others_have_finished_is_not_applied_to_the_next_generation(
    trips: Installed,
) -> None:
    more(trips, 10, 20)
    latest = ("--to-latest", "--execute", "--reason=skip")
    assert trips.process("reset", *latest, **killed_at("reset intended")).returncode != 0
    slow = trips.open().resources
    pending = slow.offsets.snapshot().resets().newest
    assert pending is not None
    trips.plan()
    trips.open().reset(shift_by(-10), "no, do read them", *WHO)
    start_generation(slow, ToIntended(pending), pending.reason, Origin(*WHO, datetime.now(UTC)))
    status = trips.open().status()
    assert isinstance(status, PipelineStatus)
    assert status.forward.generation == 3
    assert status.forward.positions[TopicPartition(trips.topics[0], 0)] == 20
    trips.run()
    assert trips.judge().facts.rows == 30


def test_after_a_second_restore_an_idle_partition_stays_where_it_was(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(2))
    more(trips, 10, partition=1)
    delete_records(trips.bootstrap, trips.topics[0], 5, partition=1)
    landed(trips, batches=3)
    trips.run()
    for _ in range(2):
        DeltaTable(trips.data).restore(DeltaTable(trips.data).version() - 1)
        preview = trips.open().preview_reset(to_table)
        idle = [each for each in preview.reset.cursor if each.partition.partition == 1]
        assert [(each.before, each.after.offsets.start) for each in idle] == [(10, 10)]
        trips.open().reset(to_table, "a RESTORE", *WHO)
        more(trips, 5, 100)
        trips.run()
    trips.judge()
