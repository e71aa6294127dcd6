"""Quarantined records of batches of which only rows tell, as log and offsets table are gone."""

from __future__ import annotations

import shutil

import pytest
from sluice.offsets.quarantined import RecordFilter, RecordState
from sluice.offsets.ranges import TopicPartition
from sluice.operations.backfill.replay import quarantined_records
from sluice.operations.quarantine.drop import drop
from sluice.progress.quarantined_records import read_quarantined

from tests.worlds.altered_tables import clean_the_log
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

NARROW = {"type": "json", "schema": "id BIGINT, n INT"}
WIDER = {"type": "json", "schema": "id BIGINT"}
WORD = b'{"id": 1, "n": "one"}'


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Offsets 0 and 2 of a recovered pipeline are in quarantine; only rows name their batches."""
    trips = two_batches(topic, pipeline)
    offsets_are_lost(trips)
    assert set(states(trips)) == {0, 2}
    return trips


def two_batches(topic: Topic, pipeline: Pipelines) -> Installed:
    trips = pipeline(topic(retention_ms=-1), format=NARROW, quarantine={"max_ratio": 1})
    for _ in range(2):
        produce(trips.bootstrap, trips.topics[0], [WORD, *numbered(1)])
        trips.run()
    return trips


def offsets_are_lost(trips: Installed) -> None:
    clean_the_log(trips)
    shutil.rmtree(trips.warehouse / "trips__offsets")
    done = trips.sluice("recover", "--execute", "--reason", "a test")
    assert done.returncode == 0, done.stderr


def test_they_count_and_can_be_replayed(trips: Installed) -> None:
    assert set(states(trips).values()) == {RecordState.LIVE}
    trips.write_spec(format=WIDER)
    replay(trips)
    assert set(states(trips).values()) == {RecordState.SUPERSEDED}
    assert sorted(row["_offset"] for row in trips.rows()) == [0, 1, 2, 3]
    holds(trips)


def test_one_that_is_undecodable_again_is_there_once(trips: Installed) -> None:
    replay(trips)
    found = [(row.offset, row.state) for row in read_quarantined(trips.open().resources).rows]
    one = [RecordState.LIVE, RecordState.SUPERSEDED]
    assert sorted(found) == [(offset, state) for offset in (0, 2) for state in one]
    holds(trips)


def test_they_can_be_dropped(trips: Installed) -> None:
    one = RecordFilter(positions=[(TopicPartition(trips.topics[0], 0), 0)])
    opened = trips.open()
    by = opened.origin("test", "pytest")
    assert drop(opened.resources, one, "no use", by, opened.open_upkeep).chosen
    assert states(trips) == {2: RecordState.LIVE}
    holds(trips)


def test_one_that_was_replayed_before_is_superseded(topic: Topic, pipeline: Pipelines) -> None:
    trips = two_batches(topic, pipeline)
    trips.write_spec(format=WIDER, quarantine={"max_ratio": 1})
    replay(trips)
    offsets_are_lost(trips)
    assert states(trips) == {0: RecordState.SUPERSEDED, 2: RecordState.SUPERSEDED}
    assert trips.open().maintain("test", "pytest").removed == 2
    holds(trips)


def replay(trips: Installed) -> None:
    again = trips.open().backfill(quarantined_records(RecordFilter()), "test", "pytest")
    assert again.work is not None
    trips.ingest(again.work)
    trips.settle()


def holds(trips: Installed) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(1))
    trips.run()
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stderr


def states(trips: Installed) -> dict[int, RecordState]:
    rows = read_quarantined(trips.open().resources).rows
    return {row.offset: row.state for row in rows}
