"""Several at once: plans, runs and receipts of one pipeline from many processes and threads."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from sluice.lake.spark_lake import SparkLake
from sluice.offsets.batches import BatchReference
from sluice.protocol.settle.announce import announce, read_announced
from sluice.protocol.settle.write_receipts import Settlement

from tests.worlds.pipelines import Installed, Pipelines, Topic, more
from tests.worlds.processes import PLANNING_ALONE, Run, send_line

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PLANNERS = 6
ROUNDS = 3


class LandingTogether(SparkLake):
    """Lands when all the others are about to land, too."""

    everybody: threading.Barrier

    def land(self, *batch: Any) -> None:
        self.everybody.wait(60)
        super().land(*batch)


def test_of_many_planners_one_wins_and_the_others_adopt(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(2), max_records_per_batch=7)
    planners = [trips.start_alone(PLANNING_ALONE) for _ in range(PLANNERS)]
    assert {line(planner) for planner in planners} == {"ready\n"}
    try:
        # The first round also races to create the offsets table.
        for first, batches in ((0, range(1, 3)), (10, range(3, 5))):
            more(trips, 10, first)
            for planner in planners:
                send_line(planner.process)
            works = [BatchReference.from_dict(json.loads(line(each))) for each in planners]
            assert [work.batches for work in works] == [batches] * PLANNERS
            assert len(trips.offsets("planned")) == batches[-1] * 2, "a row per partition, once"
            trips.ingest(works[0])
            trips.settle()
    finally:
        assert [planner.end().returncode for planner in planners] == [0] * PLANNERS
    assert trips.judge().facts.rows == 20


def line(run: Run) -> str:
    assert run.process.stdout is not None
    return run.process.stdout.readline()


def test_two_runs_at_once_both_end_well(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), max_records_per_batch=8)
    for first in (0, 20):
        more(trips, 20, first)
        runs = [trips.start("run") for _ in range(2)]
        ends = [run.end() for run in runs]
        assert [end.returncode for end in ends] == [0, 0], "\n".join(end.stderr for end in ends)
        assert trips.judge().facts.rows == first + 20


def test_of_two_commits_at_the_same_moment_one_lands(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    trips.session()
    LandingTogether.everybody = threading.Barrier(2)
    for number in range(ROUNDS):
        more(trips, 10, number * 10)
        work = trips.plan()
        at_once(partial(land, trips, work))
        assert len(trips.rows()) == number * 10 + 10
        trips.settle()
    assert trips.judge().facts.rows == ROUNDS * 10


def land(trips: Installed, work: BatchReference) -> None:
    pipeline = trips.open()
    resources = pipeline.resources
    lake = LandingTogether(trips.session(), resources, resources.spec)
    pipeline.ingest(work, lake)


def test_receipts_are_written_exactly_once(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), max_records_per_batch=2)
    more(trips, 10)
    work = trips.plan()
    trips.ingest(work)
    before = read_announced(trips.open().resources, [], work)
    settlements: list[Settlement] = at_once(trips.settle, times=4)
    settled = [str(each.batch) for made in settlements for each in made.receipts]
    assert sorted(settled) == [f"forward-1-{number}" for number in range(1, 6)]
    assert len(trips.offsets("committed")) == 5
    assert not trips.settle()
    news = announce(trips.open().resources, before)
    assert [each["batch"] for each in news.batches] == sorted(settled), "by any of them"
    assert not announce(trips.open().resources, news.announced)
    assert trips.judge().facts.rows == 10


def at_once(call: Callable[[], Any], times: int = 2) -> list[Any]:
    with ThreadPoolExecutor(times) as pool:
        futures = [pool.submit(call) for _ in range(times)]
    if failed := [error for each in futures if isinstance(error := each.exception(), Exception)]:
        raise ExceptionGroup("at once", failed)
    return [each.result() for each in futures]
