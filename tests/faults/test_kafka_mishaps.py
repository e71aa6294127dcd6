"""Kafka has a mishap while a batch is planned or read: the table is exact, or the run is loud."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sluice.errors import BatchInDoubt, BrokerUnavailable, DataLost

from local.embedded.broker import Broker
from local.embedded.guard import is_java, still_there
from local.embedded.waiting import until
from tests.oracle import KafkaTruth, Verdict, judge, read_truth
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.processes import Run
from tests.worlds.records import delete_records, delete_topic, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PARTITIONS = 8
MANY = 3_000


@pytest.fixture
def trips(own_broker: Broker, own_topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline on a broker of its own, with ten records landed and five more to be read."""
    made = pipeline(own_topic())
    made.bootstrap = own_broker.bootstrap
    produce(made.bootstrap, made.topics[0], numbered(10))
    made.run()
    produce(made.bootstrap, made.topics[0], numbered(5, first=10))
    return made


@pytest.fixture
def wide(own_broker: Broker, own_topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that reads for a while: many records in partitions that are read in turn."""
    made = pipeline(own_topic(PARTITIONS), spark={"spark.master": "local[1]"})
    made.bootstrap = own_broker.bootstrap
    fill(made, 0)
    return made


def fill(wide: Installed, first: int) -> None:
    for number in range(PARTITIONS):
        produce(wide.bootstrap, wide.topics[0], numbered(MANY, first), number)


@contextmanager
def frozen_while_reading(wide: Installed) -> Iterator[Run]:
    """A run whose JVM is frozen when it has read the first partitions, and goes on afterwards."""
    run = wide.start("run")
    jvm = run.jvm()
    until(lambda: list(wide.data.glob("*.parquet")), "a data file", 120, pause=0.001)
    jvm.suspend()
    assert len(list(wide.data.glob("*.parquet"))) < PARTITIONS
    assert wide.rows() == []
    yield run
    jvm.resume()


def test_retention_passes_a_batch_while_it_is_read(wide: Installed) -> None:
    name = wide.topics[0]
    with frozen_while_reading(wide) as run:
        for number in range(PARTITIONS):
            delete_records(wide.bootstrap, name, 2_000, number)
    done = run.end()
    assert done.returncode == 1
    assert "SparkFailed: forward-1-1: not committed" in done.stderr
    assert wide.rows() == []
    with pytest.raises(DataLost, match=rf"{name}\[0\]: ") as refused:
        wide.run()
    assert f"{PARTITIONS * 2_000} offsets are gone" in str(refused.value)
    wide.write_spec(on_data_loss="record")
    wide.run()
    assert list(wide.ranges("committed")) == ["forward-1-1"]
    assert {row["gap_lost"] for row in wide.offsets("loss")} == {2_000}
    assert wide.judge().facts.rows == PARTITIONS * 1_000


def test_a_topic_is_created_anew_while_it_is_read(wide: Installed, own_topic: Topic) -> None:
    name = wide.topics[0]
    truth = read_truth(wide.bootstrap, [name])
    with frozen_while_reading(wide) as run:
        delete_topic(wide.bootstrap, name)
        own_topic(PARTITIONS, name=name)
        fill(wide, first=MANY)
    done = run.end()
    assert done.returncode == 1
    # Spark reads by name: the partitions that were left came from the new topic, and all counts
    # are right. Only the oracle, which remembers the records, and the topic id see it.
    assert f"BatchInDoubt: {name}[0]: expected topic id" in done.stderr
    assert "forward-1-1: committed, but the topic was deleted and created anew" in done.stderr
    assert judged(wide, truth).invariants == {5}
    for step in (wide.plan, wide.settle):
        with pytest.raises(BatchInDoubt, match=name):
            step()
    assert wide.ranges("committed") == {}


def judged(wide: Installed, truth: KafkaTruth) -> Verdict:
    where = (wide.bootstrap, wide.warehouse, wide.name, wide.name, wide.topics)
    return judge(*where, truth=truth, settled=False, group=wide.group)


def test_a_broker_that_is_killed_and_comes_back_while_a_batch_is_read(
    wide: Installed, own_broker: Broker
) -> None:
    with frozen_while_reading(wide) as run:
        own_broker.kill()
    own_broker.start()
    done = run.end()
    assert done.returncode == 0 or "SparkFailed: forward-1-1: not committed" in done.stderr
    wide.run()
    assert list(wide.ranges("committed")) == ["forward-1-1"]
    assert wide.judge().facts.rows == PARTITIONS * MANY


def test_a_broker_that_dies_while_a_batch_is_read(wide: Installed, own_broker: Broker) -> None:
    with frozen_while_reading(wide) as run:
        own_broker.kill()
    done = run.end()
    assert done.returncode == 1
    assert "SparkFailed: forward-1-1: not committed" in done.stderr
    assert f"reading from broker {own_broker.bootstrap}, stopped: " in done.stderr
    assert "Caused by: " in done.stderr
    assert (wide.rows(), wide.ranges("committed")) == ([], {})
    own_broker.start()
    wide.run()
    assert wide.judge().facts.rows == PARTITIONS * MANY


def unharmed_by(trips: Installed, step: Callable[[], object]) -> None:
    """The step fails because the broker does not answer, and leaves everything as it was."""
    before = trips.version(), trips.rows("trips__offsets")
    with pytest.raises(BrokerUnavailable, match=f"broker {trips.bootstrap}: "):
        step()
    assert (trips.version(), trips.rows("trips__offsets")) == before


def test_nobody_answers_at_any_step(trips: Installed, own_broker: Broker) -> None:
    own_broker.kill()
    unharmed_by(trips, trips.plan)
    own_broker.start()
    work = trips.plan()
    own_broker.kill()
    unharmed_by(trips, lambda: trips.ingest(work))
    own_broker.start()
    trips.ingest(work)
    own_broker.kill()
    unharmed_by(trips, trips.settle)
    own_broker.start()
    trips.run()
    assert trips.judge().facts.rows == 15


def test_a_broker_that_hangs_at_any_step(trips: Installed, own_broker: Broker) -> None:
    with hanging(own_broker):
        unharmed_by(trips, trips.plan)
    until(lambda: answers(trips), "a broker that answers again")
    work = trips.plan()
    with hanging(own_broker):
        unharmed_by(trips, lambda: trips.ingest(work))
    until(lambda: answers(trips), "a broker that answers again")
    trips.run()
    assert trips.judge().facts.rows == 15


@contextmanager
def hanging(broker: Broker) -> Iterator[None]:
    frozen = [process for process in still_there(broker.pids) if is_java(process)]
    assert len(frozen) == 1
    frozen[0].suspend()
    yield
    frozen[0].resume()


def answers(trips: Installed) -> bool:
    """Whether the broker has noticed that it is awake."""
    resources = trips.open().resources
    try:
        return bool(resources.kafka.state(resources.spec).logs)
    except BrokerUnavailable:
        return False
