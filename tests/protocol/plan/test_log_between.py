"""The log changes between two steps: between planning, reading, settling and the next planning."""

from __future__ import annotations

import pytest
from sluice.errors import BatchInDoubt, DataLost, ResetNeeded
from sluice.operations.status import PipelineStatus

from tests.oracle import read_truth
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import add_partitions, delete_records, delete_topic, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that has landed ten records of each of two partitions."""
    made = pipeline(topic(2))
    for number in range(2):
        produce(made.bootstrap, made.topics[0], numbered(10), number)
    made.run()
    return made


def create_anew(trips: Installed, topic: Topic, partitions: int, count: int) -> None:
    name = trips.topics[0]
    delete_topic(trips.bootstrap, name)
    topic(partitions, name=name)
    for number in range(partitions):
        produce(trips.bootstrap, name, numbered(count, first=1000), number)


def test_a_partition_added_between_plan_and_read_is_for_the_next_plan(trips: Installed) -> None:
    name = trips.topics[0]
    produce(trips.bootstrap, name, numbered(5, first=10))
    work = trips.plan()
    add_partitions(trips.bootstrap, name, 3)
    produce(trips.bootstrap, name, numbered(4), 2)
    trips.ingest(work)
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (10, 15), "[1]": (10, 10)}
    assert trips.ranges()["forward-1-3"] == {"[0]": (15, 15), "[1]": (10, 10), "[2]": (0, 4)}
    assert trips.judge().facts.rows == 29


def test_a_new_partition_that_was_truncated_before_it_was_seen_has_lost_records(
    trips: Installed,
) -> None:
    name = trips.topics[0]
    add_partitions(trips.bootstrap, name, 3)
    produce(trips.bootstrap, name, numbered(6), 2)
    remembered = read_truth(trips.bootstrap, [name])
    delete_records(trips.bootstrap, name, 4, partition=2)
    with pytest.raises(DataLost, match=r"\[2\]: .* at 4: 4 offsets lost \(gone before the new"):
        trips.plan()
    assert list(trips.ranges()) == ["forward-1-1"]
    trips.write_spec(on_data_loss="record")
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (10, 10), "[1]": (10, 10), "[2]": (4, 6)}
    (loss,) = trips.offsets("loss")
    assert (loss["partition"], loss["start_offset"], loss["end_offset"]) == (2, 0, 4)
    assert trips.judge(remembered=remembered).facts.rows == 22


@pytest.mark.parametrize(
    ("partitions", "count", "named"),
    [
        (2, 3, r"\[0\]: expected topic id .* with \[0, 3\): the topic was deleted"),
        (2, 30, r"\[1\]: expected topic id .* with \[0, 30\): the topic was deleted"),
        (1, 30, r"\[1\]: expected a log to go on with at 10, found no such partition"),
        (3, 10, r"\[0\]: expected topic id .* with \[0, 10\): the topic was deleted"),
    ],
    ids=["smaller", "larger", "with fewer partitions", "with more partitions"],
)
def test_a_topic_created_anew_is_refused_whatever_its_size(
    trips: Installed, topic: Topic, partitions: int, count: int, named: str
) -> None:
    truth = read_truth(trips.bootstrap, trips.topics)
    create_anew(trips, topic, partitions, count)
    with pytest.raises(ResetNeeded, match=named):
        trips.plan()
    assert list(trips.ranges()) == ["forward-1-1"]
    assert trips.judge(truth=truth).facts.rows == 20


def test_a_topic_created_anew_between_plan_and_read_is_not_read(
    trips: Installed, topic: Topic
) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(5, first=10))
    truth = read_truth(trips.bootstrap, trips.topics)
    work = trips.plan()
    create_anew(trips, topic, 2, 30)
    with pytest.raises(ResetNeeded, match=r"\[0\]: expected topic id .* was deleted and created"):
        trips.ingest(work)
    assert list(trips.ranges("committed")) == ["forward-1-1"]
    assert trips.judge(truth=truth, caught_up=False).facts.rows == 20


def test_a_topic_created_anew_before_the_receipt_leaves_the_batch_without_one(
    trips: Installed, topic: Topic
) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(5, first=10))
    truth = read_truth(trips.bootstrap, trips.topics)
    trips.ingest(trips.plan())
    create_anew(trips, topic, 2, 30)
    with pytest.raises(BatchInDoubt) as refused:
        trips.settle()
    text = str(refused.value)
    assert f"{trips.topics[0]}[0]: expected topic id" in text
    assert f"{trips.topics[0]}[1]" not in text, "of that partition nothing was read"
    assert "forward-1-2: committed, but the topic was deleted and created anew" in text
    assert list(trips.ranges("committed")) == ["forward-1-1"]
    assert trips.judge(truth=truth, settled=False).facts.rows == 25

    whole = f"{trips.topics[0]}[0] [10, 15)"
    assert f"`sluice verify trips --accept-gap '{whole}' --reason …` closes it" in text
    done = trips.sluice("verify", "--accept-gap", whole, "--reason", "they are the old topic's")
    assert done.returncode == 0, done.stderr + done.stdout
    receipt = trips.offsets("committed")[-1]
    assert (receipt["batch"], receipt["records"]) == ("forward-1-2", 0)
    assert receipt["reason"].startswith("a topic was created anew before the receipt; not counted")
    assert trips.judge(truth=truth).facts.rows == 25


def test_a_topic_that_is_gone_after_it_was_read_gets_its_receipt(trips: Installed) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(5, first=10))
    truth = read_truth(trips.bootstrap, trips.topics)
    trips.ingest(trips.plan())
    delete_topic(trips.bootstrap, trips.topics[0])
    trips.settle()
    assert list(trips.ranges("committed")) == ["forward-1-1", "forward-1-2"]
    assert trips.judge(truth=truth).facts.rows == 25


def test_a_partition_added_to_a_topic_created_anew_is_read_from_its_beginning(
    trips: Installed, topic: Topic
) -> None:
    name = trips.topics[0]
    create_anew(trips, topic, 1, 6)
    anew = ("reset", "--to-earliest", "--topic", name, "--execute", "--reason", "it is another one")
    assert trips.sluice(*anew).returncode == 0
    trips.run()
    add_partitions(trips.bootstrap, name, 2)
    produce(trips.bootstrap, name, numbered(4), 1)
    status = trips.open().status()
    assert isinstance(status, PipelineStatus)
    (lag,) = [each for each in status.lags if each.partition.partition == 1]
    assert lag.records == 4
    trips.run()
    assert trips.ranges("committed")["forward-2-2"] == {"[0]": (6, 6), "[1]": (0, 4)}
    stays = trips.sluice("reset", "--shift-by", "0", "--execute", "--reason", "smaller batches")
    assert stays.returncode == 0, stays.stderr
    trips.run()
    assert trips.judge().facts.rows == 30
