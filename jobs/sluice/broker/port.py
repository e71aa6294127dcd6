"""The broker's port: what the rest asks of one Kafka cluster, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from sluice.offsets.log_page import LogPage
from sluice.offsets.notation import Positions
from sluice.offsets.partition_log import KafkaState, Logs, Retention
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.receipts import Span

ReadOffsets = Callable[[OffsetRange], Iterator[list[int]]]
"""Reads the offsets in a range that hold a committed record, ascending, in chunks.

Raises BrokerUnavailable when nothing comes for 15 s, SettingsError when the user may not read it.
"""


class TopicSelection(Protocol):
    """Which topics are read: the listed ones, else all whose name is selected."""

    @property
    def topics(self) -> list[str] | None:
        """The listed names; None where topics are selected by name."""

    def selects(self, topic: str) -> bool:
        """Whether a topic of this name is read."""


@dataclass(frozen=True)
class NamedTopics:
    """A selection of topics by name, whether or not a spec still names them."""

    topics: list[str]

    def selects(self, topic: str) -> bool:
        """Whether it is one of them."""
        return topic in self.topics


@dataclass(frozen=True)
class Sample:
    """One record; `timestamp` is None where Kafka has none."""

    partition: TopicPartition
    offset: int
    timestamp: datetime | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()

    def __str__(self) -> str:
        return f"{self.partition}@{self.offset}"


class TopicEnd(NamedTuple):
    """How far a partition was read, and the id of the topic that was read."""

    topic_id: str
    end: int


class Cluster(Protocol):
    """One Kafka cluster. No question changes it, but `mirror`.

    Every method raises BrokerUnavailable, which names the broker, when no answer comes in time, and
    SettingsError when the connection is refused, or its user has not the rights.
    """

    # The logs as they are now

    def state(self, selection: TopicSelection) -> KafkaState:
        """The current logs of the selected topics; missing topics are left out."""

    def offsets_for_time(
        self, partitions: list[TopicPartition], moment: datetime
    ) -> Mapping[TopicPartition, int | None]:
        """The first offset whose record is at or after the moment; None where none is."""

    def topic_names(self) -> list[str]:
        """The names of all topics that the connection's user may see, in order."""

    def compacting(self, topics: Iterable[str]) -> frozenset[str]:
        """Those of the topics whose cleanup policy compacts."""

    def retentions(self, topics: Iterable[str]) -> Mapping[str, Retention]:
        """When Kafka deletes the topics' records."""

    # Consumer groups

    def group_offsets(
        self, group: str, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, int | None]:
        """The committed offsets of a consumer group; None where there is none.

        None as well where it was committed by `mirror` of another topic of that name.
        """

    def mirror(self, group: str, cursor: Mapping[TopicPartition, TopicEnd]) -> None:
        """Commit the cursor as a consumer group's offsets, where its topic is still there."""

    # What the logs hold

    def fingerprints(self, cursor: Positions) -> Mapping[TopicPartition, str | None]:
        """The fingerprint of the record batch before each offset; None where the log has none."""

    def raw_log(
        self,
        partition: TopicPartition,
        missing: Sequence[Span],
        *,
        timeout: float = 30.0,
        patience: float = 3.0,
    ) -> Iterator[LogPage]:
        """The log where offsets are missing, a page at a time, in order.

        `timeout` is the longest wait for a page, in seconds; `patience` how long an answer without
        records has to stay so before it counts.
        """

    def offsets_reader(self) -> AbstractContextManager[ReadOffsets]:
        """A reader of the offsets in one range after the other."""

    def samples(self, wanted: Iterable[OffsetRange], at_most: int) -> list[Sample]:
        """The first `at_most` committed records of each range, in order."""

    def timestamps(self, starts: Positions) -> Mapping[TopicPartition, datetime]:
        """The timestamp of the first committed record at or after each offset.

        Unknown ones are left out, and every partition without an answer.
        """

    def open_since(self, logs: Logs) -> Mapping[TopicPartition, datetime]:
        """Since when a transaction has been open, for partitions that have one."""

    def bytes_per_offset(self, starts: Positions) -> Mapping[TopicPartition, float]:
        """The compressed bytes per offset from each offset on; unknown ones are left out."""
