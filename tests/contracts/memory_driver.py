"""The driver of brokers in memory."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sluice.broker.port import Cluster
from sluice.offsets.ranges import TopicPartition

from tests.contracts.driver import Value
from tests.worlds.memory_log import MemoryCluster, MemoryKafka, Record, Transaction


class _WallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class _Seeded:
    def __init__(self) -> None:
        self._random = random.Random(1)

    def name(self) -> str:
        return uuid.UUID(int=self._random.getrandbits(128)).hex

    def share(self) -> float:
        return self._random.random()


class MemoryDriver:
    """Of brokers in memory. `port` is what answers for them."""

    def __init__(self, port: type[MemoryCluster] = MemoryCluster) -> None:
        self.kafka = MemoryKafka(_WallClock(), _Seeded(), "5L6g3nShT-eMCtK--X86sw")
        self.cluster: Cluster = port(self.kafka)
        self._idle: list[Transaction] = []
        self._topics = 0

    def topic(self, partitions: int = 1, *, name: str = "", **config: Any) -> str:
        self._topics += 1
        name = name or f"topic-{self._topics}"
        period = int(str(config.get("retention_ms", 7 * 24 * 3_600_000)))
        self.kafka.create_topic(
            name,
            partitions,
            compact=config.get("cleanup_policy") == "compact",
            retention=timedelta(milliseconds=period) if period >= 0 else None,
            by_size=int(str(config.get("retention_bytes", -1))) >= 0,
        )
        return name

    def compacted_topic(self) -> str:
        return self.topic(cleanup_policy="compact", retention_ms=-1)

    def delete_topic(self, topic: str) -> None:
        self.kafka.delete_topic(topic)

    def add_partitions(self, topic: str, total: int) -> None:
        self.kafka.add_partitions(topic, total)

    def produce(
        self, topic: str, values: Sequence[Value], *, key: bytes = b"k", timestamp: int = 0
    ) -> None:
        self._produce(topic, values, key, timestamp or None)

    def begin(self, topic: str, values: Sequence[Value]) -> Transaction:
        transaction = self.kafka.begin(self._idle.pop() if self._idle else None)
        self.write(transaction, topic, values)
        return transaction

    def write(self, transaction: Transaction, topic: str, values: Sequence[Value]) -> None:
        self._produce(topic, values, None, None, transaction)

    def end(self, transaction: Transaction, topic: str, *, commit: bool) -> None:
        self.kafka.commit(transaction) if commit else self.kafka.abort(transaction)
        self._idle.append(transaction)

    def delete_records(self, topic: str, before: int) -> None:
        assert self.kafka.delete_records(TopicPartition(topic, 0), before) == before

    def compact(self, topic: str) -> None:
        for number in range(2):
            self.produce(topic, [b"roll"], key=b"roll-%d" % number)
        self.kafka.compact(topic)

    def commit_group(self, group: str, topic: str, offset: int) -> None:
        self.kafka.commit_group(group, {TopicPartition(topic, 0): offset})

    def _produce(
        self,
        topic: str,
        values: Sequence[Value],
        key: bytes | None,
        timestamp: int | None,
        transaction: Transaction | None = None,
    ) -> None:
        sent = [Record(each, key, timestamp) for each in values]
        self.kafka.produce(topic, 0, sent, transaction)
