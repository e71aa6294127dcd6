"""A batch: a numbered set of offset ranges of one pipeline and lane; the unit that is committed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from sluice.offsets.partition_log import Logs, PartitionLog
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition, span_of

Lane = Literal["forward", "backfill"]
Mode = Literal["append", "replace"]


@dataclass(frozen=True, order=True)
class BatchSequence:
    """A lane of a generation: its batches are numbered and committed one after another."""

    pipeline: str
    lane: Lane
    generation: int

    @property
    def app_id(self) -> str:
        """The Delta transaction id of the sequence: its version is the newest batch's number."""
        return f"sluice:{self.pipeline}:{self.lane}:{self.generation}"

    @property
    def receipts_app_id(self) -> str:
        """The Delta transaction id of the sequence's receipts in the offsets table."""
        return f"{self.app_id}:settled"

    @property
    def quarantine_app_id(self) -> str:
        """The Delta transaction id of the sequence's rows in the quarantine table."""
        return f"{self.app_id}:quarantine"

    def __str__(self) -> str:
        return f"{self.lane}-{self.generation}"

    def batch(self, number: int) -> str:
        """The name of a batch of this sequence, such as `forward-1-42`."""
        return f"{self.lane}-{self.generation}-{number}"


@dataclass(frozen=True)
class PlannedRange:
    """An offset range and the state of its partition's log when it was planned."""

    offsets: OffsetRange
    topic_id: str
    log_start_offset: int
    last_stable_offset: int
    leader_epoch: int | None

    @property
    def place(self) -> TopicIdPartition:
        """The partition as rows name it."""
        return self.offsets.partition.of(self.topic_id)

    @classmethod
    def of(cls, offsets: OffsetRange, log: PartitionLog) -> PlannedRange:
        """The range and the current state of its partition's log."""
        return cls(
            offsets, log.topic_id, log.log_start_offset, log.last_stable_offset, log.leader_epoch
        )


Cursor = Mapping[TopicPartition, PlannedRange]
"""Where each partition stands: its last planned range, or an empty range at the same place."""


def of_topics_there(cursor: Cursor, logs: Logs) -> Cursor:
    """The cursor without the places of a topic that another one of its name has replaced.

    The one that is there is the one that is being read: this partition is new to it.
    """
    same = {at for at, e in cursor.items() if at in logs and logs[at].topic_id == e.topic_id}
    # Places of a former topic are those of partitions that the present one lacks: never the first.
    read = {(at.topic, cursor[at].topic_id) for at in same if at.partition == 0}
    return {
        at: each
        for at, each in cursor.items()
        if at in same or at not in logs or (at.topic, logs[at].topic_id) not in read
    }


def missed_places(cursor: Cursor, logs: Logs) -> set[TopicPartition]:
    """The partitions of the cursor that have no log.

    But for those of a former topic: a reset has moved on to the one created anew, which has fewer.
    """
    read = {(at.topic, e.topic_id) for at, e in cursor.items() if _is_read_as(at, e, logs)}
    return {
        at
        for at, each in cursor.items()
        if at not in logs
        and not any(topic == at.topic and of != each.topic_id for topic, of in read)
    }


def _is_read_as(at: TopicPartition, each: PlannedRange, logs: Logs) -> bool:
    return at in logs and logs[at].topic_id == each.topic_id


def positions_there(cursor: Cursor, logs: Logs) -> Mapping[TopicPartition, int]:
    """The same as offsets: the next one to read, by partition."""
    return {at: each.offsets.end for at, each in of_topics_there(cursor, logs).items()}


@dataclass(frozen=True)
class Batch:
    """One batch: immutable once planned.

    `data_table_id` is the Delta id of the data table that it was planned for, or landed in, and
    `quarantine_table_id` that of the quarantine table; None where there was no table yet. `only`
    are the offsets that it may change: of rows between them it takes over the values; None for all
    of its ranges. `complete_until`: every record that a reader of committed records could see in
    Kafka before that moment is in this batch or an earlier one; None where no moment is known.
    """

    sequence: BatchSequence
    number: int
    mode: Mode
    cluster_id: str
    ranges: tuple[PlannedRange, ...]
    data_table_id: str | None = field(default=None, compare=False)
    quarantine_table_id: str | None = field(default=None, compare=False)
    only: tuple[OffsetRange, ...] | None = None
    complete_until: datetime | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.sequence.batch(self.number)

    def in_tables(self, data: str | None, quarantine: str | None) -> Batch:
        """The same batch, for tables of these Delta ids."""
        return replace(self, data_table_id=data, quarantine_table_id=quarantine)

    @property
    def span(self) -> int:
        """Offsets covered by the batch."""
        return span_of(each.offsets for each in self.ranges)

    @property
    def topic_ids(self) -> Mapping[str, str]:
        """Topic name to topic id.

        When a topic is recreated with fewer partitions, the missing ones keep the old id, empty.
        """
        empty_first = sorted(self.ranges, key=lambda each: bool(each.offsets.span))
        return {each.offsets.partition.topic: each.topic_id for each in empty_first}

    @cached_property
    def by_partition(self) -> Mapping[TopicPartition, PlannedRange]:
        """The planned ranges by partition."""
        return {each.offsets.partition: each for each in self.ranges}


_NUMBERS = re.compile(r"([1-9]\d{0,17})\.\.([1-9]\d{0,17})")


@dataclass(frozen=True)
class BatchReference:
    """Consecutive batches of one sequence, by number; falsy when there is nothing to do.

    Written with its first and last number, `42..5000`, so that it stays short however many it has.
    """

    sequence: BatchSequence
    batches: range = range(0)

    def __post_init__(self) -> None:
        if self.batches and (self.batches.step != 1 or self.batches[0] < 1):
            raise ValueError(f"{self.batches} are not consecutive batches, counted from 1")

    def __bool__(self) -> bool:
        return bool(self.batches)

    def __str__(self) -> str:
        if not self.batches:
            return "nothing"
        first, last = (self.sequence.batch(self.batches[at]) for at in (0, -1))
        return first if first == last else f"{first} … {last} ({len(self.batches)} batches)"

    @property
    def pipeline(self) -> str:
        """The pipeline's name."""
        return self.sequence.pipeline

    def above(self, committed: int) -> BatchReference:
        """Those above a number."""
        batches = self.batches
        return replace(self, batches=range(max(batches.start, committed + 1), batches.stop))

    def first(self, count: int) -> BatchReference:
        """The first ones, at most this many."""
        return replace(self, batches=self.batches[:count])

    def as_dict(self) -> dict[str, Any]:
        """The reference as JSON-able values."""
        return {
            "pipeline": self.sequence.pipeline,
            "lane": self.sequence.lane,
            "generation": self.sequence.generation,
            "batches": f"{self.batches[0]}..{self.batches[-1]}" if self.batches else "",
        }

    @classmethod
    def from_dict(cls, reference: object) -> BatchReference:
        """Read a reference back. Raises ValueError when it is not one."""
        match reference:
            case {
                "pipeline": str(pipeline),
                "lane": "forward" | "backfill" as lane,
                "generation": int(generation),
                "batches": str(written),
            }:
                return cls(BatchSequence(pipeline, lane, generation), _read_numbers(written))
        raise ValueError(f"{reference!r} is not a reference to batches")


def _read_numbers(written: str) -> range:
    if not written:
        return range(0)
    found = _NUMBERS.fullmatch(written)
    if not found or int(found[1]) > int(found[2]):
        raise ValueError(f"{written!r} is not a range of batches; expected for example 42..43")
    return range(int(found[1]), int(found[2]) + 1)
