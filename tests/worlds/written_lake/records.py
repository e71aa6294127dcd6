"""Records: what a lake reads of Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sluice.offsets.ranges import OffsetRange, TopicPartition

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True)
class Record:
    """One record; `timestamp` is in milliseconds."""

    partition: TopicPartition
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    def __str__(self) -> str:
        return f"{self.partition}@{self.offset}"


ReadRecords = Callable[[OffsetRange], Iterable[Record]]
"""The committed records of a range, ascending; raises where its start is no longer there."""
