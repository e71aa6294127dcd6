"""One kind of several, with all that may happen to a pipeline meanwhile, on Spark."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from deltalake import DeltaTable
from sluice.lake.port import BatchAttempt
from sluice.lake.spark_lake import SparkLake
from sluice.offsets.batches import BatchReference
from sluice.operations.backfill.selection import Selection, offset_ranges, time_window
from sluice.operations.reset.targets import shift_by, to_earliest
from sluice.progress.lane_state import read_unchecked

from tests.protocol.ingest.test_only import FORM, WAYS, fill
from tests.worlds.compaction import COMPACTED, compact
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

EVER = time_window(datetime(2000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC))
Story = Callable[[Installed], None]


def optimised_and_read_again(trips: Installed) -> None:
    DeltaTable(trips.data).optimize.compact()
    trips.open().maintain("test", "pytest")
    read_again(trips, offset_ranges([f"{trips.topics[0]}[1] [1, 6)"]))


def read_again_in_a_window(trips: Installed) -> None:
    read_again(trips, EVER)


def restored(trips: Installed) -> None:
    more(trips)
    DeltaTable(trips.data).restore(1)
    done(trips, "--to-table")


def put_back(trips: Installed) -> None:
    copy = trips.folder / "copy"
    shutil.copytree(trips.data, copy)
    more(trips)
    shutil.rmtree(trips.data)
    copy.rename(trips.data)
    done(trips, "--to-table")


def reset_twice(trips: Installed) -> None:
    trips.open().reset(shift_by(-3), "a test", "run", "pytest")
    trips.run()
    trips.open().reset(to_earliest, "a test", "run", "pytest")


class Together(SparkLake):
    """Lands when the other one is about to land, too."""

    both: threading.Barrier

    def land(self, attempt: BatchAttempt) -> None:
        self.both.wait(60)
        super().land(attempt)


def started_twice(trips: Installed) -> None:
    Together.both = threading.Barrier(2)
    add(trips)
    work = trips.plan()

    def land(work: BatchReference) -> None:
        pipeline = trips.open()
        lake = Together(trips.session(), pipeline.resources, pipeline.resources.spec)
        pipeline.ingest(work, lake)

    with ThreadPoolExecutor(2) as threads:
        [each.result() for each in [threads.submit(land, work) for _ in range(2)]]


def overtaken_by_a_reset(trips: Installed) -> None:
    """An attempt that was past all checks when the reset came."""
    add(trips)
    work = trips.plan()
    pipeline = trips.open()
    batch = read_unchecked(pipeline.resources).history.batch(work.batches[0])
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    with pipeline.open_lake() as lake:
        lake.land(BatchAttempt(batch, tuple(each.offsets for each in batch.ranges), "late"))


STORIES: list[Story] = [
    optimised_and_read_again,
    read_again_in_a_window,
    restored,
    put_back,
    reset_twice,
    started_twice,
    overtaken_by_a_reset,
]


def read_again(trips: Installed, selection: Selection) -> None:
    trips.ingest(trips.open().backfill(selection, "run", "pytest").work)
    trips.settle()


def add(trips: Installed) -> None:
    for kind in ("click", "order", "click"):
        value = b'{"kind": "%s", "id": 1}' % kind.encode()
        produce(trips.bootstrap, trips.topics[0], [value], 1, headers=[("kind", kind.encode())])


def more(trips: Installed) -> None:
    add(trips)
    trips.run()


def done(trips: Installed, *words: str) -> None:
    found = trips.sluice("reset", *words, "--execute", "--reason", "a test")
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_the_kind_is_exact_whatever_happens(
    topic: Topic, pipeline: Pipelines, story: Story
) -> None:
    """In three partitions, with aborted transactions and a record that cannot be decoded."""
    only, keeps, other = WAYS["where"]
    trips = pipeline(topic(3, retention_ms=-1), format=FORM, only=only, quarantine={"max_ratio": 1})
    fill(trips, other)
    trips.run()
    story(trips)
    add(trips)
    trips.run()
    facts = trips.judge(keeps=keeps).facts
    orders = facts.rows - 13
    assert (orders in (1, 2), facts.quarantined) == (True, 1)
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stdout
    assert f"{15 + 2 * orders} filtered" in verified.stdout


def test_what_compaction_removes_is_neither_landed_nor_left_out(
    topic: Topic, pipeline: Pipelines
) -> None:
    only, keeps, _ = WAYS["header"]
    trips = pipeline(topic(**COMPACTED, retention_ms=-1), format=FORM, only=only)
    for number in range(24):
        kind = ("order", "click")[number % 2].encode()
        value = b'{"kind": "%s", "id": %d}' % (kind, number)
        # Of each key the last record stays.
        key = b"%s-%d" % (kind, number // 12)
        produce(trips.bootstrap, trips.topics[0], [value], key=key, headers=[("kind", kind)])
    compact(trips.bootstrap, trips.topics)
    trips.run()
    found = trips.offsets("committed")
    assert sum(row["records"] for row in found) == 2
    assert sum(row["gap_compacted"] for row in found) > 0
    trips.judge(keeps=keeps)
    read_again(trips, EVER)
    trips.judge(keeps=keeps)
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stdout
