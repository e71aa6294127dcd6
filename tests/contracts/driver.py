"""A driver: one way to write to a broker in memory, and to a real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sluice.broker.port import Cluster

Value = bytes | None


@dataclass(frozen=True)
class Chosen:
    """Topics by name."""

    topics: list[str] | None

    def selects(self, topic: str) -> bool:
        return False


class Driver(Protocol):
    """What happens to a broker. Partition 0, where none is named."""

    cluster: Cluster

    def topic(self, partitions: int = 1, *, name: str = "", **config: Any) -> str:
        """A new topic; `config` are Kafka's settings of topics."""

    def compacted_topic(self) -> str:
        """A new topic for `compact`."""

    def delete_topic(self, topic: str) -> None:
        """Delete it."""

    def add_partitions(self, topic: str, total: int) -> None:
        """Add partitions until there are that many."""

    def produce(
        self, topic: str, values: Sequence[Value], *, key: bytes = b"k", timestamp: int = 0
    ) -> None:
        """One batch; `timestamp` 0 is now."""

    def begin(self, topic: str, values: Sequence[Value]) -> Any:
        """A transaction that begins with one batch, of a producer that has none open."""

    def write(self, transaction: Any, topic: str, values: Sequence[Value]) -> None:
        """One more batch of it."""

    def end(self, transaction: Any, topic: str, *, commit: bool) -> None:
        """Its marker."""

    def delete_records(self, topic: str, before: int) -> None:
        """Move the log start."""

    def compact(self, topic: str) -> None:
        """Let the log cleaner come, after more records of other keys."""

    def commit_group(self, group: str, topic: str, offset: int) -> None:
        """Commit an offset, as a consumer of the group does."""


def transact(driver: Driver, topic: str, values: Sequence[Value], *, commit: bool) -> None:
    """A transaction of one batch, and its marker."""
    driver.end(driver.begin(topic, values), topic, commit=commit)
