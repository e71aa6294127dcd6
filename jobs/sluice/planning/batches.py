"""A batch: a numbered set of offset ranges of one pipeline and lane; the unit that is committed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sluice.broker.kafka_state import PartitionLog
from sluice.planning.ranges import OffsetRange, TopicPartition, span_of

Lane = Literal["forward", "backfill"]
Mode = Literal["append", "replace"]

_WRITTEN = re.compile(r"(forward|backfill)-([1-9][0-9]*)-([1-9][0-9]*)")


@dataclass(frozen=True, order=True)
class BatchSequence:
    """A lane of a generation: the batches that are numbered, and committed, one after the other."""

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
        """How a batch of this sequence is written, such as `forward-1-42`."""
        return f"{self.lane}-{self.generation}-{number}"


@dataclass(frozen=True)
class PlannedRange:
    """An offset range with what was true of its partition's log when it was planned."""

    offsets: OffsetRange
    topic_id: str
    log_start_offset: int
    last_stable_offset: int
    leader_epoch: int | None

    @classmethod
    def now(cls, offsets: OffsetRange, log: PartitionLog) -> PlannedRange:
        """The range with what is true of its partition's log now."""
        return cls(
            offsets, log.topic_id, log.log_start_offset, log.last_stable_offset, log.leader_epoch
        )


Cursor = Mapping[TopicPartition, PlannedRange]
"""Where each partition stands: the last range planned of it, or an empty one there."""


@dataclass(frozen=True)
class Batch:
    """One batch, as planned: never changed afterwards, by nobody."""

    sequence: BatchSequence
    number: int
    mode: Mode
    cluster_id: str
    ranges: tuple[PlannedRange, ...]

    def __str__(self) -> str:
        return self.sequence.batch(self.number)

    @property
    def span(self) -> int:
        """Offsets covered by the batch."""
        return span_of(each.offsets for each in self.ranges)

    @property
    def topic_ids(self) -> Mapping[str, str]:
        """Topic name to topic id.

        Of a topic created anew with fewer partitions, the others keep the old id, and are empty.
        """
        empty_first = sorted(self.ranges, key=lambda each: bool(each.offsets.span))
        return {each.offsets.partition.topic: each.topic_id for each in empty_first}

    @property
    def by_partition(self) -> Mapping[TopicPartition, PlannedRange]:
        """The planned ranges by partition."""
        return {each.offsets.partition: each for each in self.ranges}


def parse_batch(pipeline: str, text: str) -> tuple[BatchSequence, int]:
    """Read `forward-1-42` back. Raises ValueError for anything else."""
    found = _WRITTEN.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not a batch; expected for example forward-1-42")
    lane: Lane = "forward" if found[1] == "forward" else "backfill"
    return BatchSequence(pipeline, lane, int(found[2])), int(found[3])
