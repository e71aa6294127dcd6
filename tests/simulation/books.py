"""The books: everything that Kafka ever showed a read_committed client, and what it shows now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from tests.worlds.memory_log import MemoryKafka, Partition, Record


class Key(NamedTuple):
    """A record's place. A topic that is created anew has another id."""

    topic_id: str
    partition: int
    offset: int


class Content(NamedTuple):
    """What a record holds; the timestamp is in milliseconds."""

    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True)
class Shown:
    """A partition's log as it is now, and its records below the LSO."""

    topic: str
    topic_id: str
    partition: int
    log: Partition
    records: Mapping[int, Content]
    compacts: bool

    def places(self) -> Iterator[Key]:
        """The places of its records."""
        return (Key(self.topic_id, self.partition, each) for each in self.records)

    @cached_property
    def without_record(self) -> frozenset[int]:
        """The offsets where a marker or an aborted record is."""
        return frozenset((*self.log.markers(), *self.log.aborted_offsets()))


@dataclass
class Books:
    """What Kafka has ever held, by place; and why a record is no longer there."""

    ever: dict[Key, list[Content]] = field(default_factory=dict)
    gone: dict[Key, str] = field(default_factory=dict)
    now: dict[tuple[str, int], Shown] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """The topics by their ids."""
    since: dict[Key, datetime] = field(default_factory=dict)
    """When a look first found what Kafka shows at a place now: it was shown by then."""

    def look(self, kafka: MemoryKafka) -> None:
        """Write down what Kafka shows now."""
        before, self.now = self.now, {}
        for shown in _shown(kafka, before):
            self.now[shown.topic_id, shown.partition] = shown
            self.names[shown.topic_id] = shown.topic
            known = before.get((shown.topic_id, shown.partition))
            if known is shown:
                continue
            for offset, content in shown.records.items():
                key = Key(shown.topic_id, shown.partition, offset)
                if known is None or known.records.get(offset) != content:
                    self.since[key] = kafka.clock.now()
                self.gone.pop(key, None)
                found = self.ever.setdefault(key, [])
                if content not in found:
                    found.append(content)
        for place, was in before.items():
            now = self.now.get(place)
            if now is was:
                continue
            for key in was.places():
                if now is None or key.offset not in now.records:
                    self.gone.setdefault(key, _why(key.offset, now))

    def content(self, key: Key) -> Content | None:
        """The record that Kafka shows at this place now."""
        shown = self.now.get((key.topic_id, key.partition))
        return None if shown is None else shown.records.get(key.offset)


def _why(offset: int, now: Shown | None) -> str:
    if now is None:
        return "topic"
    if offset < now.log.log_start:
        return "retention"
    if offset >= now.log.end:
        return "cut off"
    if offset in now.without_record:
        return "another copy"
    return "compaction" if now.compacts else "segment"


def _shown(kafka: MemoryKafka, before: Mapping[tuple[str, int], Shown]) -> Iterator[Shown]:
    """Every partition of every topic that is there now; the same object where nothing changed."""
    for topic in kafka.topics.values():
        for number, log in enumerate(topic.partitions):
            known = before.get((topic.topic_id, number))
            if known is not None and known.log is log:
                yield known
                continue
            yield Shown(
                topic.name,
                topic.topic_id,
                number,
                log,
                {offset: content_of(record) for offset, record in log.committed()},
                topic.compact,
            )


def content_of(record: Record) -> Content:
    """What a record holds, for comparison."""
    return Content(record.timestamp or 0, record.key, record.value, tuple(record.headers))
