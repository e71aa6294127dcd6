"""The truth: what a read_committed client of its own sees in each partition from its beginning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
    Uuid,
)
from confluent_kafka.admin import AdminClient, ConfigResource
from tenacity import retry, retry_if_exception, stop_after_delay, wait_fixed

from tests.oracle.violation import Unjudgeable

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
QUIET_POLLS = 60

# A coordinator that is being elected, or still loads its offsets: retriable (Kafka protocol guide).
NO_COORDINATOR = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)

Place = tuple[str, int]


@dataclass(frozen=True)
class PartitionTruth:
    """`[log_start, end)` is what Kafka tells of now; `records` may reach below, if remembered.

    `gone` are remembered offsets that it should still hold, and does not: a disk lost them.
    """

    topic: str
    topic_id: str
    partition: int
    log_start: int
    end: int
    compacts: bool
    records: pa.Table
    aborted: np.ndarray
    gone: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def offsets(self) -> np.ndarray:
        return self.records.column("offset").to_numpy()

    def __str__(self) -> str:
        return f"{self.topic}[{self.partition}]"


@dataclass
class KafkaTruth:
    partitions: dict[Place, PartitionTruth] = field(default_factory=dict)

    def remembering(self, earlier: KafkaTruth) -> KafkaTruth:
        """With the records that an earlier reading saw and Kafka no longer holds."""
        merged = dict(self.partitions)
        for place, old in earlier.partitions.items():
            now = merged.get(place)
            merged[place] = _joined(old, now) if now else replace(old, log_start=old.end)
        return KafkaTruth(merged)


def _joined(old: PartitionTruth, now: PartitionTruth) -> PartitionTruth:
    older = old.records.filter(pa.array(~np.isin(old.offsets, now.offsets)))
    records = pa.concat_tables([older, now.records]).sort_by("offset")
    missing = np.setdiff1d(np.union1d(old.offsets, old.gone), now.offsets)
    gone = missing[(missing >= now.log_start) & (missing < now.end) & (not now.compacts)]
    return replace(now, records=records, aborted=np.union1d(old.aborted, now.aborted), gone=gone)


def read_truth(bootstrap: str, topics: Iterable[str]) -> KafkaTruth:
    """Topics that do not exist (any more) are left out."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    known = admin.list_topics(timeout=15).topics
    names = sorted(set(topics) & set(known))
    places = [TopicPartition(name, p, 0) for name in names for p in sorted(known[name].partitions)]
    if not places:
        return KafkaTruth()
    ids = {n: _url_safe(f.result().topic_id) for n, f in _described(admin, names).items()}
    compacting = {name for name in names if "compact" in _cleanup_policy(admin, name)}
    reading = _Reading(bootstrap, "read_committed", places)
    committed = reading.run()
    holed = [tp for tp in places if reading.has_holes(tp.topic, tp.partition)]
    uncommitted = _Reading(bootstrap, "read_uncommitted", holed).run() if holed else {}
    return KafkaTruth(
        {
            (ids[tp.topic], tp.partition): reading.truth(
                tp, ids[tp.topic], tp.topic in compacting, committed, uncommitted
            )
            for tp in places
        }
    )


def _described(admin: AdminClient, names: list[str]) -> dict[str, Any]:
    return admin.describe_topics(TopicCollection(names), request_timeout=15)


def _url_safe(topic_id: Uuid) -> str:
    """Kafka writes ids with - and _; librdkafka writes the same bits with + and /."""
    return str(topic_id).replace("+", "-").replace("/", "_")


def _cleanup_policy(admin: AdminClient, topic: str) -> str:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    entries = admin.describe_configs([resource], request_timeout=15)[resource].result()
    return str(entries["cleanup.policy"].value)


class _Reading:
    """One pass over partitions, from the log start until each says that it has ended."""

    def __init__(self, bootstrap: str, isolation: str, places: list[TopicPartition]) -> None:
        self.places = places
        self.log_start: dict[Place, int] = {}
        self.end: dict[Place, int] = {}
        self.messages: dict[Place, list[Message]] = {(p.topic, p.partition): [] for p in places}
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "sluice-oracle",
                "isolation.level": isolation,
                "enable.partition.eof": True,
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "queued.min.messages": 100_000,
                "fetch.queue.backoff.ms": 5,
                "fetch.wait.max.ms": 20,
            }
        )

    def run(self) -> dict[Place, list[Message]]:
        try:
            for place in self.places:
                start, _ = self._consumer.get_watermark_offsets(place, timeout=15)
                self.log_start[place.topic, place.partition] = start
            self._consumer.assign(
                [TopicPartition(t, p, start) for (t, p), start in self.log_start.items()]
            )
            self._read_to_end()
        finally:
            self._consumer.close()
        return self.messages

    def _read_to_end(self) -> None:
        quiet = 0
        while len(self.end) < len(self.places):
            messages = self._consumer.consume(5_000, timeout=0.25)
            quiet = 0 if messages else quiet + 1
            if quiet > QUIET_POLLS:
                raise Unjudgeable(f"Kafka fell silent before the ends of {self.places}")
            for message in messages:
                self._take(message)

    def _take(self, message: Message) -> None:
        place = message.topic(), message.partition()
        error = message.error()
        if error is None:
            self.messages[place].append(message)
        elif error.code() == KafkaError._PARTITION_EOF:
            self.end[place] = message.offset()
        else:
            raise Unjudgeable(f"{place}: {error}")

    def has_holes(self, topic: str, partition: int) -> bool:
        span = self.end[topic, partition] - self.log_start[topic, partition]
        return len(self.messages[topic, partition]) < span

    def truth(
        self,
        place: TopicPartition,
        topic_id: str,
        compacts: bool,
        committed: dict[Place, list[Message]],
        uncommitted: dict[Place, list[Message]],
    ) -> PartitionTruth:
        at = place.topic, place.partition
        records = _records(committed[at])
        visible = np.array([m.offset() for m in uncommitted.get(at, ())], np.int64)
        visible = visible[visible < self.end[at]]
        aborted = np.setdiff1d(visible, records.column("offset").to_numpy())
        start, end = self.log_start[at], self.end[at]
        return PartitionTruth(
            place.topic, topic_id, place.partition, start, end, compacts, records, aborted
        )


def _records(messages: list[Message]) -> pa.Table:
    return pa.table(
        {
            "offset": pa.array([m.offset() for m in messages], pa.int64()),
            "timestamp": pa.array([m.timestamp()[1] for m in messages], pa.int64()),
            "key": pa.array([m.key() for m in messages], pa.binary()),
            "value": pa.array([m.value() for m in messages], pa.binary()),
            "headers": pa.array([_headers(m) for m in messages], HEADERS),
        }
    )


def _headers(message: Message) -> list[dict[str, Any]] | None:
    pairs = message.headers()
    return [{"key": key, "value": value} for key, value in pairs] if pairs else None


NO_RECORDS = _records([])


def _lacks_coordinator(problem: BaseException) -> bool:
    return isinstance(problem, KafkaException) and problem.args[0].code() in NO_COORDINATOR


@retry(
    retry=retry_if_exception(_lacks_coordinator),
    wait=wait_fixed(0.2),
    stop=stop_after_delay(30),
    reraise=True,
)
def group_positions(bootstrap: str, group: str, truth: KafkaTruth) -> dict[Place, int]:
    """Committed offsets of a consumer group, by topic name and partition, where it has any."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    try:
        asked = [TopicPartition(p.topic, p.partition) for p in truth.partitions.values()]
        answers = consumer.committed(asked, timeout=15) if asked else []
        return {(a.topic, a.partition): a.offset for a in answers if a.offset >= 0}
    finally:
        consumer.close()
