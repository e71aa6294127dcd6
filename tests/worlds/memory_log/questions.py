"""Questions to the brokers in memory: each is announced, and fails as the real one does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sluice.broker.answers import NoSuchTopic
from sluice.errors import BrokerUnavailable
from sluice.offsets.ranges import OffsetRange, TopicPartition

from tests.worlds.memory_log.brokers import MemoryKafka
from tests.worlds.memory_log.partition import Partition
from tests.worlds.memory_log.topic import Topic

_ADDRESS = "memory:9092"
_READER_S = 15.0


class Questions:
    """What one client asks. `asked` is called before each question, with its name."""

    def __init__(self, kafka: MemoryKafka, asked: Callable[[str], None]) -> None:
        self.announce = asked
        self._kafka = kafka

    def ask(self, question: str) -> MemoryKafka:
        """The brokers, for a question that an admin client or a group's member asks."""
        self.announce(question)
        if self._kafka.down:
            raise unavailable("Local: Broker transport failure")
        return self._kafka

    def topic(self, name: str) -> Topic:
        """A topic that an admin client asks about by name."""
        if name not in self._kafka.topics:
            raise _no_such_topic()
        return self._kafka.topics[name]

    def log(self, partition: TopicPartition) -> Partition:
        """A log that an admin client asks about."""
        topic = self.topic(partition.topic)
        if partition.partition >= len(topic.partitions):
            raise unavailable("Local: Unknown partition")
        return topic.partitions[partition.partition]

    def raw(self, wanted: OffsetRange, timeout: float) -> Partition:
        """A log that is read raw: for one that is not there the client asks until it gives up."""
        if self._kafka.down or not self._kafka.has(wanted.partition):
            why = "KafkaConnectionError()" if self._kafka.down else "UnknownTopicOrPartitionError()"
            raise BrokerUnavailable(
                f"{wanted}: the raw log could not be read from {_ADDRESS} within {timeout:g} s;"
                f" last answer: {why}. Nothing was changed; try again"
            )
        return self.log(wanted.partition)

    def consumed(self, wanted: OffsetRange) -> Partition:
        """A log that a consumer waits for."""
        log = self._there(wanted.partition)
        if log is None or _says_nothing(log, wanted.start):
            raise BrokerUnavailable(
                f"{wanted}: broker {_ADDRESS} sent nothing for {_READER_S:g} s. Run again when it"
                " answers."
            )
        return log

    def answering(
        self, starts: Mapping[TopicPartition, int], *, committed: bool = True
    ) -> Iterator[tuple[TopicPartition, Partition, int]]:
        """The logs that answer a consumer which does without those that do not."""
        for partition, start in starts.items():
            log = self._there(partition)
            if log is not None and not (committed and _says_nothing(log, start)):
                yield partition, log, start

    def _there(self, partition: TopicPartition) -> Partition | None:
        if self._kafka.down or not self._kafka.has(partition):
            return None
        return self.log(partition)


def _says_nothing(log: Partition, start: int) -> bool:
    """Whether a read_committed consumer waits in vain: to librdkafka a log ends at its LSO only."""
    return log.last_stable_offset < start <= log.end


def unavailable(why: str) -> BrokerUnavailable:
    """What an admin client says of brokers that do not answer, or refuse."""
    return BrokerUnavailable(
        f"broker {_ADDRESS}: {why}. Nothing was changed; run again when the broker answers."
    )


def _no_such_topic() -> NoSuchTopic:
    return NoSuchTopic(
        f"broker {_ADDRESS}: a topic was deleted while its state was read."
        " Nothing was changed; run again."
    )
