"""Notation: ranges, positions, scopes and moments, as people and Kafka's tools write them.

Every function raises ValueError with what was found and an example of what is allowed. The names in
capitals are the same forms as patterns, for schemas that are checked first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sluice.offsets.batches import BatchSequence, Lane
from sluice.offsets.ranges import OffsetRange, TopicPartition

_LETTERS = "[A-Za-z0-9._-]"
_TOPIC = f"{_LETTERS}{{1,249}}"
# Kafka's protocol has 32-bit partitions and 64-bit offsets, both signed (protocol guide).
_PARTITION, _OFFSET = r"\d{1,9}", r"\d{1,18}"

TOPIC = f"^{_TOPIC}$"
MOMENT = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$"

_RANGE = re.compile(rf"({_TOPIC})\[({_PARTITION})\] \[({_OFFSET}), ({_OFFSET})\)")


def parse_range(text: str) -> OffsetRange:
    """Parse `flights[0] [5, 8)`. Raises ValueError for anything else, including an empty range."""
    found = _RANGE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is not an offset range; expected for example flights[0] [5, 8)")
    partition = TopicPartition(found[1], int(found[2]))
    offsets = OffsetRange(partition, int(found[3]), int(found[4]))
    if not offsets.span:
        raise ValueError(f"{text!r} is an empty range; its end is the next offset, not the last")
    return offsets


_BATCH = re.compile(r"(forward|backfill)-([1-9][0-9]{0,8})-([1-9][0-9]{0,17})")


def parse_batch(pipeline: str, text: str) -> tuple[BatchSequence, int]:
    """Parse `forward-1-42`. Raises ValueError for anything else."""
    found = _BATCH.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not a batch; expected for example forward-1-42")
    lane: Lane = "forward" if found[1] == "forward" else "backfill"
    return BatchSequence(pipeline, lane, int(found[2])), int(found[3])


_POSITION = re.compile(rf"({_TOPIC})\[({_PARTITION})\]([=@])({_OFFSET})")
_LINE = re.compile(rf'"?({_TOPIC})"?\s*,\s*({_PARTITION})\s*,\s*({_OFFSET})')
_SCOPE = re.compile(rf"({_TOPIC})(?::({_PARTITION}(?:,{_PARTITION})*))?")
_DURATION = re.compile(
    r"P(?=.)(?:(?P<days>\d{1,6})D)?(?:T(?=\d)(?:(?P<hours>\d{1,6})H)?(?:(?P<minutes>\d{1,6})M)?"
    r"(?:(?P<seconds>\d{1,9}(?:\.\d{1,6})?)S)?)?",
    re.ASCII,
)
Positions = Mapping[TopicPartition, int]


@dataclass(frozen=True)
class Scope:
    """A topic, or some of its partitions; no partition named means all of them."""

    topic: str
    partitions: frozenset[int] = frozenset()

    def __contains__(self, partition: TopicPartition) -> bool:
        named = not self.partitions or partition.partition in self.partitions
        return partition.topic == self.topic and named

    @property
    def named(self) -> list[TopicPartition]:
        """The partitions named one by one."""
        return [TopicPartition(self.topic, number) for number in sorted(self.partitions)]

    def __str__(self) -> str:
        numbers = ",".join(map(str, sorted(self.partitions)))
        return f"{self.topic}:{numbers}" if numbers else self.topic


def parse_positions(texts: Iterable[str], mark: str = "=") -> Positions:
    """Parse `flights[0]=120` (or with the mark `@`), one position per partition."""
    found = []
    for text in texts:
        parts = _POSITION.fullmatch(text.strip())
        if not parts or parts[3] != mark:
            example = f"flights[0]{mark}120"
            raise ValueError(f"{text!r} is not a position; expected for example {example}")
        found.append((TopicPartition(parts[1], int(parts[2])), int(parts[4])))
    return _one_each(found)


def parse_positions_file(text: str) -> Positions:
    """Parse the CSV that `kafka-consumer-groups --export` writes: `topic,partition,offset`."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        parts = _LINE.fullmatch(line.strip())
        if not parts:
            raise ValueError(
                f"line {number}: {line!r} is not a position; expected for example flights,0,120"
            )
        found.append((TopicPartition(parts[1], int(parts[2])), int(parts[3])))
    if not found:
        raise ValueError("it has no position; expected for example a line flights,0,120")
    return _one_each(found)


def parse_scope(text: str) -> Scope:
    """Parse `flights` or `flights:0,2`, the form of `kafka-consumer-groups --topic`."""
    parts = _SCOPE.fullmatch(text.strip())
    if not parts:
        raise ValueError(f"{text!r} is not a topic; expected for example flights or flights:0,2")
    return Scope(parts[1], frozenset(map(int, parts[2].split(","))) if parts[2] else frozenset())


def parse_shift(text: str) -> int:
    """Parse `500` or `-500`."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip()):
        raise ValueError(f"{text!r} is not a number of offsets; expected for example 500 or -500")
    return int(text)


def parse_moment(text: str) -> datetime:
    """Parse `2026-11-01T06:00:00.000`, in UTC unless it has a UTC offset."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(
            f"{text!r} is not a moment; expected for example 2026-11-01T06:00:00Z"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def parse_duration(text: str) -> timedelta:
    """Parse `P1DT2H30M`: days, hours, minutes, seconds. Months and years have no fixed length."""
    parts = _DURATION.fullmatch(text.strip())
    if not parts:
        raise ValueError(f"{text!r} is not a duration; expected for example PT1H or P1DT2H30M")
    return timedelta(**{name: float(value) for name, value in parts.groupdict("0").items()})


def _one_each(found: Iterable[tuple[TopicPartition, int]]) -> Positions:
    positions: dict[TopicPartition, int] = {}
    for partition, offset in found:
        if positions.setdefault(partition, offset) != offset:
            raise ValueError(
                f"{partition} is given twice: {positions[partition]} and {offset}; expected one"
                " offset of each partition"
            )
    if not positions:
        raise ValueError("no position is given; expected for example flights[0]=120")
    return positions
