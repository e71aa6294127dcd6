"""The brokers in memory: what producers, admins and mishaps do to topics and groups."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple

from sluice.clock import Chance, Clock
from sluice.offsets.partition_log import Retention
from sluice.offsets.ranges import TopicPartition

from tests.worlds.memory_log.batch import NO_PRODUCER, Batch, Record
from tests.worlds.memory_log.partition import Partition
from tests.worlds.memory_log.topic import Topic


@dataclass(frozen=True)
class Transaction:
    """A producer's transaction. It is open wherever it has written, until it ends."""

    producer_id: int


@dataclass(frozen=True)
class Appended:
    """A batch that was written: records, or a marker, which ends its producer's transaction."""

    partition: TopicPartition
    topic_id: str
    batch: Batch


class GroupOffset(NamedTuple):
    """What a group has committed, and what it has said about it."""

    offset: int
    words: str


@dataclass(frozen=True)
class State:
    """A copy of the brokers' data: topics, ids and groups."""

    topics: Mapping[str, Topic]
    groups: Mapping[str, Mapping[TopicPartition, GroupOffset]]


class MemoryKafka:
    """One cluster's brokers. `listeners` are told of every batch that is written.

    `down` has every question fail; groups `in_use` have members, and refuse a stranger's commit.
    """

    def __init__(self, clock: Clock, chance: Chance, cluster_id: str) -> None:
        self.cluster_id = cluster_id
        self.down = False
        self.in_use: set[str] = set()
        self.listeners: list[Callable[[Appended], None]] = []
        self.clock, self._chance = clock, chance
        self._topics: dict[str, Topic] = {}
        self._groups: dict[str, dict[TopicPartition, GroupOffset]] = {}
        self._producers = 0

    # What there is

    @property
    def topics(self) -> Mapping[str, Topic]:
        """The topics by name, as they are now."""
        return self._topics

    @property
    def groups(self) -> Mapping[str, Mapping[TopicPartition, GroupOffset]]:
        """The offsets that groups have committed."""
        return self._groups

    def log(self, topic: str, partition: int = 0) -> Partition:
        """A partition's log as it is now. Raises KeyError where there is none."""
        return self._topics[topic].partitions[partition]

    def logs_of(self, topic_id: str) -> tuple[Partition, ...]:
        """The logs of a topic id; none once it was deleted."""
        found = (each.partitions for each in self._topics.values() if each.topic_id == topic_id)
        return next(found, ())

    # Topics

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        *,
        compact: bool = False,
        retention: timedelta | None = None,
        by_size: bool = False,
    ) -> str:
        """Create it; returns its id. Without a retention nothing is deleted by time."""
        if name in self._topics:
            raise ValueError(f"{name} exists")
        topic_id, kept = self._topic_id(), Retention(retention, by_size)
        self._topics[name] = Topic(name, topic_id, (Partition(),) * partitions, compact, kept)
        return topic_id

    def delete_topic(self, name: str) -> None:
        """Delete it, and what groups have committed of it."""
        del self._topics[name]
        for group, offsets in self._groups.items():
            kept = {each: at for each, at in offsets.items() if each.topic != name}
            self._groups[group] = kept

    def add_partitions(self, name: str, total: int) -> None:
        """Add empty ones until there are that many."""
        topic = self._topics[name]
        more = total - len(topic.partitions)
        if more <= 0:
            raise ValueError(f"{name} has {len(topic.partitions)} partitions already")
        self._topics[name] = replace(topic, partitions=topic.partitions + (Partition(),) * more)

    # Records

    def produce(
        self,
        topic: str,
        partition: int,
        records: Sequence[Record],
        transaction: Transaction | None = None,
    ) -> range:
        """Write one batch; returns its offsets."""
        if not records:
            raise ValueError("a batch has at least one record")
        if self._topics[topic].compact and any(each.key is None for each in records):
            raise ValueError(f"{topic} compacts: a record needs a key")
        now, producer = self._now(), transaction.producer_id if transaction else NO_PRODUCER
        dated = tuple(e if e.timestamp is not None else replace(e, timestamp=now) for e in records)
        self._change(topic, partition, lambda log: log.with_records(dated, producer, now))
        batch = self._tell(topic, partition)
        return range(batch.base_offset, batch.next_offset)

    def begin(self, after: Transaction | None = None) -> Transaction:
        """A transaction of a new producer, or of the one that had another one before."""
        if after is not None:
            return after
        self._producers += 1
        return Transaction(self._producers)

    def commit(self, transaction: Transaction) -> None:
        """End it: a marker in each partition where it is open."""
        self._end(transaction, commits=True)

    def abort(self, transaction: Transaction) -> None:
        """End it: a marker in each partition where it is open."""
        self._end(transaction, commits=False)

    def is_open(self, transaction: Transaction) -> bool:
        """Whether it holds any partition back."""
        return any(True for _ in self._opened_by(transaction))

    # What brokers do with time, and what befalls them

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        """Move the log start, as kafka-delete-records does; returns where it is then."""
        self._change(partition.topic, partition.partition, lambda log: log.starting_at(before))
        return self.log(partition.topic, partition.partition).log_start

    def expire(self) -> None:
        """Let retention delete what is too old by now."""
        now = self._now()
        self._topics = {name: each.expired(now) for name, each in self._topics.items()}

    def compact(self, name: str) -> None:
        """Let the log cleaner come."""
        self._topics[name] = self._topics[name].compacted(self._now())

    def lose(self, partition: TopicPartition, start: int, end: int) -> None:
        """A disk loses the batches that lie whole in `[start, end)`."""
        self._change(partition.topic, partition.partition, lambda log: log.without(start, end))

    def elect(self, name: str) -> None:
        """Another leader for every partition, which lacks nothing."""
        self._topics[name] = self._topics[name].changed_everywhere(Partition.elected)

    def truncate(self, partition: TopicPartition, to: int) -> int:
        """An unclean election: the leader's log ends earlier. Returns where."""
        self._change(partition.topic, partition.partition, lambda log: log.truncated(to))
        return self.log(partition.topic, partition.partition).end

    def copy(self) -> State:
        """A copy of the data: everything in it is frozen, so it costs next to nothing."""
        return State(dict(self._topics), {name: dict(each) for name, each in self._groups.items()})

    def put_back(self, state: State) -> None:
        """The brokers' disks are as they were; the cluster keeps its id."""
        self._topics = dict(state.topics)
        self._groups = {name: dict(each) for name, each in state.groups.items()}

    # Groups

    def commit_group(
        self, group: str, offsets: Mapping[TopicPartition, int], words: str = ""
    ) -> None:
        """Commit offsets of topics that are there, with words that Kafka keeps."""
        there = {at: GroupOffset(each, words) for at, each in offsets.items() if self.has(at)}
        self._groups[group] = {**self._groups.get(group, {}), **there}

    def forget(self, group: str) -> None:
        """Kafka forgets a group without members after `offsets.retention.minutes`."""
        self._groups.pop(group, None)

    def has(self, partition: TopicPartition) -> bool:
        """Whether there is such a partition."""
        topic = self._topics.get(partition.topic)
        return topic is not None and partition.partition < len(topic.partitions)

    def _end(self, transaction: Transaction, *, commits: bool) -> None:
        producer, now = transaction.producer_id, self._now()
        for at in list(self._opened_by(transaction)):
            self._change(
                at.topic,
                at.partition,
                lambda log: log.with_marker(producer, now, commits=commits),
            )
            self._tell(at.topic, at.partition)

    def _opened_by(self, transaction: Transaction) -> Iterator[TopicPartition]:
        for name, topic in self._topics.items():
            for number, log in enumerate(topic.partitions):
                if transaction.producer_id in log.open:
                    yield TopicPartition(name, number)

    def _change(self, topic: str, partition: int, change: Callable[[Partition], Partition]) -> None:
        self._topics[topic] = self._topics[topic].changed(partition, change)

    def _tell(self, topic: str, partition: int) -> Batch:
        batch = self.log(topic, partition).batches[-1]
        told = Appended(TopicPartition(topic, partition), self._topics[topic].topic_id, batch)
        for listener in self.listeners:
            listener(told)
        return batch

    def _topic_id(self) -> str:
        """As Kafka writes it: never one that begins with a dash, never of zeros alone."""
        while True:
            drawn = base64.urlsafe_b64encode(bytes.fromhex(self._chance.name()))
            found = drawn.decode().rstrip("=")
            if found.strip("A") and not found.startswith("-"):
                return found

    def _now(self) -> int:
        return int(self.clock.now().timestamp() * 1000)
