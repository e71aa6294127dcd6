"""A topic: its id, its settings and its partitions' logs. Frozen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Self

from sluice.offsets.partition_log import Retention

from tests.worlds.memory_log.compaction import compacted
from tests.worlds.memory_log.partition import Partition

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Topic:
    """A topic of one id. `delete_retention` is how long compaction keeps tombstones."""

    name: str
    topic_id: str
    partitions: tuple[Partition, ...]
    compact: bool = False
    retention: Retention = field(default_factory=lambda: Retention(None))
    delete_retention: timedelta = timedelta(days=1)

    def changed(self, partition: int, change: Callable[[Partition], Partition]) -> Self:
        """The same with one partition's log changed."""
        logs = list(self.partitions)
        logs[partition] = change(logs[partition])
        return replace(self, partitions=tuple(logs))

    def expired(self, now: int) -> Self:
        """Without the batches at the logs' beginnings that are too old: each is a segment."""
        if self.retention.period is None:
            return self
        oldest = now - self.retention.period // _MILLISECOND
        return self.changed_everywhere(lambda log: _young(log, oldest))

    def compacted(self, now: int) -> Self:
        """After the log cleaner has come."""
        kept = self.delete_retention // _MILLISECOND
        return self.changed_everywhere(lambda log: compacted(log, now, kept))

    def changed_everywhere(self, change: Callable[[Partition], Partition]) -> Self:
        """The same with the log of every partition changed."""
        return replace(self, partitions=tuple(map(change, self.partitions)))


def _young(log: Partition, oldest: int) -> Partition:
    young = (each.base_offset for each in log.batches if each.newest >= oldest)
    return log.starting_at(next(young, log.end))
