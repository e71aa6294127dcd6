"""Several brokers: leaders die while a batch is read, records are lost, the nearest is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as WirePartition
from pyspark import SparkContext
from pyspark.sql import SparkSession
from sluice.broker.client_settings import ClientSettings
from sluice.errors import ResetNeeded
from sluice.lake.kafka_source import read_ranges
from sluice.offsets.ranges import OffsetRange, TopicPartition

from local.embedded.waiting import until
from tests.oracle import read_truth
from tests.production.worlds.brokers import NUMBERS, Brokers, three_brokers
from tests.worlds.pipelines import Installed, Pipelines
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PARTITIONS = 8
MANY = 3_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    with three_brokers(tmp_path_factory.mktemp("brokers")) as running:
        yield running


@pytest.fixture
def brokers(cluster: Brokers) -> Brokers:
    """The tests kill them: each begins with all of them."""
    for each in cluster.brokers.values():
        each.start()
    return cluster


def on(brokers: Brokers, pipeline: Pipelines, topic: str, **keys: object) -> Installed:
    made = pipeline(topic, **keys)
    made.bootstrap = brokers.bootstrap
    return made


def test_a_leader_that_is_killed_while_a_batch_is_read(
    brokers: Brokers, pipeline: Pipelines
) -> None:
    """Broker 2 leads all partitions; Spark goes on with the next leader."""
    topic = brokers.topic(PARTITIONS)
    trips = on(brokers, pipeline, topic, spark={"spark.master": "local[1]"})
    for number in range(PARTITIONS):
        produce(brokers.bootstrap, topic, numbered(MANY), number)
    brokers.in_sync(topic, *NUMBERS)
    run = trips.start("run")
    jvm = run.jvm()
    until(lambda: list(trips.data.glob("*.parquet")), "a data file", 120, pause=0.001)
    jvm.suspend()
    assert len(list(trips.data.glob("*.parquet"))) < PARTITIONS
    brokers.brokers[2].kill()
    jvm.resume()
    done = run.end()
    assert done.returncode == 0, done.stderr
    assert list(trips.ranges("committed")) == ["forward-1-1"]
    assert trips.judge().facts.rows == PARTITIONS * MANY


def test_records_that_an_unclean_election_loses_are_not_passed_over(
    brokers: Brokers, pipeline: Pipelines
) -> None:
    """Five records are on the leader only, and in the table; then another is made leader."""
    topic = brokers.topic(unclean_leader_election_enable="true", min_insync_replicas="1")
    trips = on(brokers, pipeline, topic)
    brokers.led_by(topic, 2)
    produce(brokers.bootstrap, topic, numbered(10))
    brokers.in_sync(topic, *NUMBERS)
    brokers.brokers[3].kill()
    brokers.brokers[4].kill()
    brokers.in_sync(topic, 2)
    produce(brokers.bootstrap, topic, numbered(5, 10))
    trips.run()
    truth = read_truth(brokers.bootstrap, [topic])
    brokers.brokers[2].kill()
    brokers.brokers[3].start()
    brokers.led_by(topic, 3)
    with pytest.raises(ResetNeeded, match=rf"{topic}\[0\]: expected an end .* 15, found .* 10"):
        trips.plan()
    assert trips.judge(truth=truth, group=None).facts.rows == 15
    # Grown again over what was read, the log has another record before the cursor.
    produce(brokers.bootstrap, topic, numbered(10, 100))
    with pytest.raises(ResetNeeded, match=rf"{topic}\[0\]: expected"):
        trips.plan()
    reset = trips.sluice("reset", "--to-earliest", "--execute", "--reason", "unclean election")
    assert reset.returncode == 0, reset.stderr
    trips.run()
    values = sorted(json.loads(row["value"])["id"] for row in trips.rows())
    assert values == [*range(10), *range(100, 110)]
    assert trips.judge().facts.rows == 20


def test_the_replica_in_the_clients_rack_is_asked(brokers: Brokers, spark: SparkSession) -> None:
    """librdkafka's statistics and the JVM's metrics count what came from whom."""
    topic = brokers.topic()
    brokers.led_by(topic, 2)
    payload = [b"x" * 1000] * 2_000
    produce(brokers.bootstrap, topic, payload)
    brokers.in_sync(topic, *NUMBERS)
    extra = {"bootstrap.servers": brokers.bootstrap, "client.rack": "rack-4", "client.id": topic}
    client = ClientSettings.from_extra("kafka_default", extra)
    ranges = [OffsetRange(TopicPartition(topic, 0), 0, len(payload))]
    assert read_ranges(spark, client, ranges).count() == len(payload)
    size = sum(map(len, payload))
    assert bytes_in_java(spark, topic, 4) > size > bytes_in_java(spark, topic, 2)
    received = bytes_in_librdkafka(client, topic, len(payload))
    assert received[4] > size > received[2]


def bytes_in_java(spark: SparkSession, client: str, node: int) -> float:
    """What Spark's consumers, which it keeps for a while, have received from a broker."""
    jvm: Any = spark._jvm
    pattern = f"kafka.consumer:type=consumer-node-metrics,client-id=*{client}*,node-id=node-{node}"
    name = jvm.javax.management.ObjectName(pattern)
    found = asked_of_jmx(spark, "queryNames", name, None).toArray()
    assert found
    return sum(float(asked_of_jmx(spark, "getAttribute", e, "incoming-byte-total")) for e in found)


def asked_of_jmx(spark: SparkSession, question: str, *given: Any) -> Any:
    """By the interface: the server's own class is none that others may call."""
    gateway: Any = SparkContext._gateway
    jvm, new_array = gateway.jvm, gateway.new_array
    server = jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer()
    interface = jvm.java.lang.Class.forName("javax.management.MBeanServer")
    (method,) = (each for each in interface.getMethods() if each.getName() == question)
    arguments = new_array(jvm.java.lang.Object, len(given))
    for number, each in enumerate(given):
        arguments[number] = each
    return method.invoke(server, arguments)


def bytes_in_librdkafka(client: ClientSettings, topic: str, count: int) -> dict[int, int]:
    told: list[str] = []
    own = {"group.id": "rack", "statistics.interval.ms": 100, "stats_cb": told.append}
    consumer = Consumer({**client.librdkafka(), **own})
    try:
        consumer.assign([WirePartition(topic, 0, 0)])
        seen = 0
        while seen < count:
            seen += len(consumer.consume(count - seen, timeout=1))
        said = len(told)
        until(lambda: consumer.poll(0.1) or len(told) > said, "statistics")
    finally:
        consumer.close()
    brokers = json.loads(told[-1])["brokers"].values()
    return {each["nodeid"]: each["rxbytes"] for each in brokers if each["nodeid"] > 0}
