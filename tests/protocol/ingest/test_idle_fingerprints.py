"""A batch keeps the fingerprint of a partition that it does not read."""

from __future__ import annotations

import pytest
from sluice.offsets.ranges import TopicPartition
from sluice.progress.lane_state import read_unchecked

from tests.worlds.pipelines import Installed, Pipelines, Topic, more
from tests.worlds.records import delete_records

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def fingerprint(trips: Installed, partition: int) -> str | None:
    """That of the newest batch's commit."""
    lane = read_unchecked(trips.open().resources)
    assert lane.newest is not None
    return lane.data.fingerprints(lane.newest).get(TopicPartition(trips.topics[0], partition))


def test_the_fingerprint_of_an_idle_partition_is_not_taken_anew(
    topic: Topic, pipeline: Pipelines
) -> None:
    """A log that was replaced meanwhile would give its own; a log that lost its records, none."""
    trips = pipeline(topic(2))
    for partition in (0, 1):
        more(trips, 5, partition=partition)
    trips.run()
    before = fingerprint(trips, 1)
    assert before
    delete_records(trips.bootstrap, trips.topics[0], 5, 1)
    more(trips, 5, 5)
    trips.run()
    assert (len(trips.ranges()), fingerprint(trips, 1)) == (2, before)
