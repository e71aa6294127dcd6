"""A batch: a numbered set of offset ranges of one pipeline and lane; the unit that is committed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sluice.offsets.partition_log import PartitionLog
from sluice.offsets.ranges import OffsetRange, TopicPartition, span_of

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

    @classmethod
    def of(cls, offsets: OffsetRange, log: PartitionLog) -> PlannedRange:
        """The range and the current state of its partition's log."""
        return cls(
            offsets, log.topic_id, log.log_start_offset, log.last_stable_offset, log.leader_epoch
        )


Cursor = Mapping[TopicPartition, PlannedRange]
"""Where each partition stands: its last planned range, or an empty range at the same place."""


@dataclass(frozen=True)
class Batch:
    """One batch: immutable once planned.

    `data_table_id` is the Delta id of the data table that it was planned for, or landed in; None
    where there was no table yet.
    """

    sequence: BatchSequence
    number: int
    mode: Mode
    cluster_id: str
    ranges: tuple[PlannedRange, ...]
    data_table_id: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.sequence.batch(self.number)

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

    @property
    def by_partition(self) -> Mapping[TopicPartition, PlannedRange]:
        """The planned ranges by partition."""
        return {each.offsets.partition: each for each in self.ranges}


@dataclass(frozen=True)
class BatchReference:
    """Some batches of one sequence, by number; falsy when there is nothing to do."""

    sequence: BatchSequence
    batches: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.batches)

    def __str__(self) -> str:
        if not self.batches:
            return "nothing"
        names = [self.sequence.batch(number) for number in self.batches]
        return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]} ({len(names)} batches)"

    @property
    def pipeline(self) -> str:
        """The pipeline's name."""
        return self.sequence.pipeline

    def as_dict(self) -> dict[str, Any]:
        """The reference as JSON-able values."""
        return {
            "pipeline": self.sequence.pipeline,
            "lane": self.sequence.lane,
            "generation": self.sequence.generation,
            "batches": list(self.batches),
        }

    @classmethod
    def from_dict(cls, reference: Mapping[str, Any]) -> BatchReference:
        """Read a reference back. Raises KeyError or ValueError when it is not one."""
        lane = reference["lane"]
        if lane not in ("forward", "backfill"):
            raise ValueError(f"lane: expected forward or backfill, found {lane!r}")
        try:
            sequence = BatchSequence(str(reference["pipeline"]), lane, int(reference["generation"]))
            return cls(sequence, tuple(int(number) for number in reference["batches"]))
        except TypeError as problem:
            raise ValueError(f"{dict(reference)} is not a reference: {problem}") from None
