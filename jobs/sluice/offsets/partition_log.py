"""The partition log: the state of a topic's partitions in Kafka at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sluice.offsets.ranges import TopicPartition


@dataclass(frozen=True)
class PartitionLog:
    """One partition's log.

    `last_stable_offset` (LSO) is where a read_committed reader must stop (KIP-98); `end_offset` is
    the high watermark. `leader_epoch` is None where the broker does not report it.
    """

    topic_id: str
    log_start_offset: int
    last_stable_offset: int
    end_offset: int
    leader_epoch: int | None

    @classmethod
    def told(
        cls, topic_id: str, start: int, stable: int, end: int, epoch: int | None
    ) -> PartitionLog:
        """The log of a broker's answers, which do not always fit together.

        The high watermark of a leader that was just elected may lie below the log start: nothing
        can be read then. And a log grows between two answers.
        """
        stable = max(start, stable)
        return cls(topic_id, start, stable, max(end, stable), epoch)

    def nearest(self, offset: int) -> int:
        """The offset, clipped to `[log start, LSO]`, where reading can begin."""
        return min(max(offset, self.log_start_offset), self.last_stable_offset)


@dataclass(frozen=True)
class Retention:
    """When Kafka deletes a topic's records: after `period` (None: never), or also by their size."""

    period: timedelta | None
    by_size: bool = False


Logs = Mapping[TopicPartition, PartitionLog]


@dataclass(frozen=True)
class KafkaState:
    """The logs of all partitions of a pipeline's topics, and their cluster.

    `asked` is the moment before the first of them was asked for, by the clock of who asked: what a
    reader could see before it lies below the LSOs.
    """

    cluster_id: str
    logs: Logs
    asked: datetime | None = None

    def is_read(self, ends: Mapping[TopicPartition, int]) -> bool:
        """Whether what is read ends at the LSOs: behind one, it was not of this log.

        A partition that was not planned yet is read as far as its beginning. Without any, nothing
        is known.
        """
        found = self.logs.items()
        return bool(found) and all(ends.get(at, 0) == log.last_stable_offset for at, log in found)
