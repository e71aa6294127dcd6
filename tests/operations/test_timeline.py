"""When a pipeline's batches were planned, committed and settled, as its own tables tell it."""

from __future__ import annotations

import pytest
from sluice.operations.timeline import Landings, read_lag_series, read_timeline
from sluice.scheduling.page.lag_over_time import lag_points

from tests.worlds.pipelines import Pipelines, Topic, more

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


def test_every_batch_has_its_moments_and_what_waits_has_fewer(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(2))
    more(trips, 5)
    trips.run()
    more(trips, 3)
    taken_over = trips.open().plan("first run", "airflow:scheduled")
    assert [str(each.batch) for each in read_timeline(trips.open().resources, 9).batches] == [
        "forward-1-1",
        "forward-1-2",
    ]
    planned = read_timeline(trips.open().resources, 9).batches[-1]
    assert planned.planned is not None
    assert (planned.committed, planned.receipt, planned.landed) == (None, None, None)
    trips.ingest(taken_over)
    landed = read_timeline(trips.open().resources, 9).batches[-1]
    assert landed.receipt is None
    assert landed.committed is not None
    assert landed.committed >= planned.planned.at.replace(microsecond=0)
    trips.settle()
    known: Landings = {}
    first, second = read_timeline(trips.open().resources, 9, known).batches
    assert second.committed == landed.committed
    assert second.settled is not None
    assert second.settled.at >= landed.committed
    assert [first.by_another_run, second.by_another_run] == [False, True]
    assert [first.doubt, second.doubt, first.undone] == [False] * 3
    assert sorted(known.values(), key=str) == sorted([first.committed, second.committed], key=str)


def test_what_was_committed_when_is_read_once(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(1))
    more(trips, 5)
    trips.run()
    known: Landings = {}
    (batch,) = read_timeline(trips.open().resources, 9, known).batches
    ((place, at),) = known.items()
    assert batch.committed == at
    remembered: Landings = {place: None}
    (again,) = read_timeline(trips.open().resources, 9, remembered).batches
    assert again.committed is None
    assert again.landed == again.settled.at if again.settled else False


def test_the_small_picture_has_the_lag_of_the_newest_batches(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(1))
    for records in (5, 3):
        more(trips, records)
        trips.run()
    found = lag_points(read_lag_series(trips.open().resources, 9))
    assert [each.offsets for each in found] == [5, 5, 0, 3, 3, 0]
    newest = lag_points(read_lag_series(trips.open().resources, 1))
    assert [each.offsets for each in newest] == [3, 3, 0]
