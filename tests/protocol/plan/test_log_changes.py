"""The log is not what it was: deleted, created anew, truncated, another cluster's. Never silent."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sluice.errors import DataLost, ResetNeeded, SettingsError
from sluice.protocol.plan.log_ends import has_reached, read_log_ends

from local.embedded.broker import Broker
from tests.oracle import read_truth
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed
from tests.worlds.records import delete_records, delete_topic, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that has landed ten records."""
    return landed(pipeline(topic()), batches=1)


def test_a_topic_deleted_and_created_anew_asks_for_a_decision(
    trips: Installed, topic: Topic
) -> None:
    name = trips.topics[0]
    truth = read_truth(trips.bootstrap, [name])
    delete_topic(trips.bootstrap, name)
    topic(name=name)
    produce(trips.bootstrap, name, numbered(15))
    with pytest.raises(ResetNeeded) as refused:
        trips.plan()
    text = str(refused.value)
    assert f"{name}[0]: expected topic id" in text
    assert "read up to 10" in text
    assert "with [0, 15): the topic was deleted and created anew" in text
    assert list(trips.ranges()) == ["forward-1-1"]
    assert trips.judge(truth=truth).facts.rows == 10


def test_a_run_that_adopted_a_plan_is_not_done_before_it_has_looked_at_the_logs(
    topic: Topic, pipeline: Pipelines
) -> None:
    name, other = topic(), topic()
    trips = pipeline(name, other)
    produce(trips.bootstrap, name, numbered(3))
    produce(trips.bootstrap, other, numbered(3))
    trips.run()
    produce(trips.bootstrap, name, numbered(2))
    work = trips.plan()
    truth = read_truth(trips.bootstrap, [name, other])
    delete_topic(trips.bootstrap, other)
    topic(name=other)
    ends = read_log_ends(trips.open().resources)
    assert trips.plan() == work
    trips.ingest(work)
    trips.settle()
    assert not has_reached(trips.open().resources, ends)
    with pytest.raises(ResetNeeded, match=other):
        trips.plan()
    assert trips.judge(truth=truth).facts.rows == 8


def test_a_topic_that_is_gone_is_no_idle_topic(trips: Installed) -> None:
    truth = read_truth(trips.bootstrap, trips.topics)
    delete_topic(trips.bootstrap, trips.topics[0])
    with pytest.raises((ResetNeeded, SettingsError), match=trips.topics[0]):
        trips.plan()
    assert list(trips.ranges()) == ["forward-1-1"]
    assert trips.judge(truth=truth).facts.rows == 10


def test_records_that_retention_took_stop_the_run(trips: Installed) -> None:
    before = read_truth(trips.bootstrap, trips.topics)
    lose_five(trips)
    with pytest.raises(DataLost) as refused:
        trips.run()
    name = trips.topics[0]
    assert f"{name}[0]: expected to go on at 10, found the log starting at 15" in str(refused.value)
    assert "5 offsets are gone" in str(refused.value)
    assert list(trips.ranges()) == ["forward-1-1"]
    trips.judge(remembered=before, caught_up=False)


def test_a_loss_that_is_to_be_recorded_leaves_a_row_and_the_run_goes_on(trips: Installed) -> None:
    before = read_truth(trips.bootstrap, trips.topics)
    lose_five(trips)
    trips.write_spec(on_data_loss="record")
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (15, 20)}
    assert lost(trips) == [(10, 15, 5)]
    assert trips.judge(remembered=before).facts.rows == 15


def test_retention_reaches_an_adopted_plan(trips: Installed) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(10, first=10))
    work = trips.plan()
    delete_records(trips.bootstrap, trips.topics[0], 15)
    with pytest.raises(DataLost, match="found the log starting at 15: 5 offsets lost"):
        trips.ingest(work)
    trips.write_spec(on_data_loss="record")
    trips.run()
    # The same batch, with what is left of it; the hole is in its receipt and in a loss row.
    assert trips.ranges()["forward-1-2"] == {"[0]": (10, 20)}
    assert trips.offsets("committed")[-1]["gap_lost"] == 5
    assert lost(trips) == [(10, 15, 5)]
    assert len(trips.rows()) == 15
    assert trips.judge().facts.rows == 15


def lose_five(trips: Installed) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(10, first=10))
    delete_records(trips.bootstrap, trips.topics[0], 15)


def lost(trips: Installed) -> list[tuple[int, int, int]]:
    rows = trips.offsets("loss")
    return [(row["start_offset"], row["end_offset"], row["gap_lost"]) for row in rows]


def test_another_cluster_behind_the_same_address_is_refused(
    trips: Installed, own_broker: Broker, own_topic: Topic
) -> None:
    own_topic(name=trips.topics[0])
    produce(own_broker.bootstrap, trips.topics[0], numbered(20))
    first, trips.bootstrap = trips.bootstrap, own_broker.bootstrap
    with pytest.raises(ResetNeeded, match=r"cluster: expected .*, found .* behind the same"):
        trips.plan()
    trips.bootstrap = first
    assert trips.judge().facts.rows == 10


def test_a_log_that_ends_below_the_cursor_was_truncated(
    own_broker: Broker, own_topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(own_topic())
    trips.bootstrap = own_broker.bootstrap
    name = trips.topics[0]
    produce(own_broker.bootstrap, name, numbered(10))
    trips.run()
    truth = read_truth(own_broker.bootstrap, [name])
    own_broker.stop()
    lose_the_log(own_broker.folder, name)
    own_broker.start()
    produce(own_broker.bootstrap, name, numbered(4))
    with pytest.raises(ResetNeeded, match=r"\[0\]: expected .*, found .* (truncated|older copy)"):
        trips.plan()
    assert list(trips.ranges()) == ["forward-1-1"]
    assert trips.judge(truth=truth, group=None).facts.rows == 10


def lose_the_log(folder: Path, name: str) -> None:
    """The disk lost the partition's segments."""
    found = list((folder / "data").glob(f"{name}-0"))
    assert len(found) == 1
    shutil.rmtree(found[0])
