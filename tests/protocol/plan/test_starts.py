"""Where a pipeline starts, and that its first plan makes every start durable."""

from __future__ import annotations

import pytest
from sluice.errors import ResetNeeded, SettingsError

from local.embedded.broker import Broker
from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import add_partitions, numbered, produce, set_group

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

HOUR = 3_600_000
T0 = 1_700_000_000_000
# A plan that nobody has committed yet.
PLANNED = {"caught_up": False, "from_earliest": False}


def test_the_default_start_is_the_beginning(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(2))
    produce(broker.bootstrap, trips.topics[0], numbered(5))
    events = trips.run()
    assert trips.ranges() == {"forward-1-1": {"[0]": (0, 5), "[1]": (0, 0)}}
    assert [event["records"] for event in events] == [5]
    assert trips.judge().facts.rows == 5


def test_latest_on_an_idle_topic_is_durable_before_the_first_record(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), start="latest")
    name = trips.topics[0]
    produce(broker.bootstrap, name, numbered(3))
    trips.run()
    assert trips.ranges() == {"forward-1-1": {"[0]": (3, 3)}}
    produce(broker.bootstrap, name, numbered(2, first=3))
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (3, 5)}
    assert trips.judge(from_earliest=False).facts.rows == 2


def test_a_timestamp_starts_at_the_first_record_at_or_after_it(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    name = topic(3, retention_ms=-1)
    for hour in range(4):
        produce(broker.bootstrap, name, numbered(1), timestamp=T0 + hour * HOUR)
    produce(broker.bootstrap, name, numbered(1), 1, timestamp=T0)
    # T0 is 22:13:20 on that day: two hours later is the third record of partition 0.
    trips = pipeline(name, start={"timestamp": "2023-11-15T00:13:20Z"})
    trips.plan()
    assert trips.ranges() == {"forward-1-1": {"[0]": (2, 4), "[1]": (1, 1), "[2]": (0, 0)}}
    trips.judge(**PLANNED)


def test_explicit_offsets_and_the_beginning_of_what_is_not_named(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    name = topic(2)
    for partition in (0, 1):
        produce(broker.bootstrap, name, numbered(4), partition)
    trips = pipeline(name, start={"offsets": {name: {0: 3}}})
    trips.plan()
    assert trips.ranges() == {"forward-1-1": {"[0]": (3, 4), "[1]": (0, 4)}}
    trips.judge(**PLANNED)


def test_an_explicit_offset_that_kafka_lacks_is_refused(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    name = topic()
    produce(broker.bootstrap, name, numbered(4))
    trips = pipeline(name, start={"offsets": {name: {0: 9}}})
    with pytest.raises(ResetNeeded, match=r"\[0\].* asks for 9, Kafka holds \[0, 4\]"):
        trips.plan()
    assert trips.ranges() == {}


def test_a_consumer_group_hands_its_position_over(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    name = topic(2)
    for partition in (0, 1):
        produce(broker.bootstrap, name, numbered(4), partition)
    set_group(broker.bootstrap, f"old-{name}", name, 3)
    trips = pipeline(name, start={"group": f"old-{name}"})
    trips.plan()
    assert trips.ranges() == {"forward-1-1": {"[0]": (3, 4), "[1]": (0, 4)}}
    trips.judge(**PLANNED)


def test_stored_history_outranks_the_start(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    produce(broker.bootstrap, trips.topics[0], numbered(3))
    trips.run()
    produce(broker.bootstrap, trips.topics[0], numbered(3, first=3))
    trips.write_spec(start="latest")
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (3, 6)}
    assert trips.judge().facts.rows == 6


def test_a_new_partition_starts_at_its_beginning(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), start="latest")
    name = trips.topics[0]
    produce(broker.bootstrap, name, numbered(3))
    trips.run()
    add_partitions(broker.bootstrap, name, 2)
    produce(broker.bootstrap, name, numbered(4), 1)
    trips.run()
    assert trips.ranges()["forward-1-2"] == {"[0]": (3, 3), "[1]": (0, 4)}
    assert trips.judge(from_earliest=False).facts.rows == 4


def test_a_new_topic_of_the_pattern_starts_at_its_beginning(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    first = topic()
    trips = pipeline(topic_pattern=f"{first}.*", start="latest")
    produce(broker.bootstrap, first, numbered(2))
    trips.run()
    second = topic(name=f"{first}.more")
    produce(broker.bootstrap, second, numbered(3))
    trips.run()
    assert trips.ranges()["forward-1-2"] == {f"{first}[0]": (2, 2), f"{second}[0]": (0, 3)}
    trips.topics = [first, second]
    assert trips.judge(from_earliest=False).facts.rows == 3


def test_a_topic_that_does_not_exist_is_refused_and_leaves_no_plan(
    pipeline: Pipelines,
) -> None:
    trips = pipeline("no-such-topic")
    with pytest.raises(SettingsError, match="expected no-such-topic on the cluster"):
        trips.plan()
    assert trips.ranges() == {}
