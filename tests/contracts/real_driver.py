"""The driver of the embedded broker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from sluice.broker.cluster import KafkaCluster
from sluice.broker.port import Cluster
from sluice.offsets.ranges import TopicPartition

from local.embedded.broker import Broker
from local.embedded.waiting import until
from tests.conftest import topic_factory
from tests.contracts.driver import Chosen, Value
from tests.worlds import records
from tests.worlds.compaction import COMPACTED, compact


class RealDriver:
    """Of the embedded broker."""

    def __init__(self, broker: Broker) -> None:
        self._at = broker.bootstrap
        self._create = topic_factory(broker)
        # A flush sends what waits: each call is one batch.
        self._producer = Producer(
            {"bootstrap.servers": broker.bootstrap, "linger.ms": 1000, "log_level": 0}
        )
        self._open: list[Producer] = []
        self._idle: list[Producer] = []
        self.cluster: Cluster = KafkaCluster(records.settings_for(broker.bootstrap))

    def topic(self, partitions: int = 1, *, name: str = "", **config: Any) -> str:
        topic = self._create(partitions, name=name or None, **config)
        self._wait_for(topic, partitions)
        return topic

    def compacted_topic(self) -> str:
        return self.topic(1, name="", **COMPACTED)

    def delete_topic(self, topic: str) -> None:
        records.delete_topic(self._at, topic)
        self._wait_for(topic, 0)

    def add_partitions(self, topic: str, total: int) -> None:
        records.add_partitions(self._at, topic, total)
        self._wait_for(topic, total)

    def _wait_for(self, topic: str, partitions: int) -> None:
        """Until the broker, too, knows what its controller has done."""
        admin, what = records.admin(self._at), f"{topic} has {partitions} partitions"
        until(lambda: len(_partitions_of(admin, topic)) == partitions, what, 15)

    def produce(
        self, topic: str, values: Sequence[Value], *, key: bytes = b"k", timestamp: int = 0
    ) -> None:
        records.send(self._producer, topic, values, key=key, timestamp=timestamp)

    def begin(self, topic: str, values: Sequence[Value]) -> Producer:
        if self._idle:
            self._open.append(self._idle.pop())
            self._open[-1].begin_transaction()
        else:
            # Longer than the tests take: the broker would abort what stays open.
            patience = {"transaction.timeout.ms": 600_000}
            self._open.append(records.transactional(self._at, **patience))
        records.send(self._open[-1], topic, values)
        return self._open[-1]

    def write(self, transaction: Producer, topic: str, values: Sequence[Value]) -> None:
        records.send(transaction, topic, values)

    def end(self, transaction: Producer, topic: str, *, commit: bool) -> None:
        self._open.remove(transaction)
        before = self._end(topic)
        transaction.commit_transaction(30) if commit else transaction.abort_transaction(30)
        # The broker answers before it has written the marker.
        until(lambda: self._end(topic) > before, f"{topic} has the marker", 15)
        self._idle.append(transaction)

    def _end(self, topic: str) -> int:
        return self.cluster.state(Chosen([topic])).logs[TopicPartition(topic, 0)].end_offset

    def delete_records(self, topic: str, before: int) -> None:
        records.delete_records(self._at, topic, before)

    def compact(self, topic: str) -> None:
        compact(self._at, [topic])

    def commit_group(self, group: str, topic: str, offset: int) -> None:
        records.set_group(self._at, group, topic, offset)

    def close(self) -> None:
        """End what was left open."""
        for producer in self._open:
            producer.abort_transaction(30)


def _partitions_of(admin: AdminClient, topic: str) -> Mapping[int, object]:
    # Of all topics: a question for one by name could create it.
    found = admin.list_topics(timeout=15).topics.get(topic)
    return found.partitions if found else {}
