"""The lake's ports: what the steps ask of Spark, and what it may answer."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sluice.offsets.batches import Batch
from sluice.offsets.quarantined import BatchOffsets
from sluice.offsets.ranges import OffsetRange, TopicPartition


class Undecodable(Exception):
    """A pass met an undecodable record and stopped; nothing was committed."""


@dataclass(frozen=True)
class BatchAttempt:
    """One attempt at a batch: what of its ranges Kafka still holds, and how to read it.

    `attempt` goes into the commit: of several attempts at a batch it shows which one landed.
    `fingerprints` go there too: of the record before each range's end, None where unknown.
    `compacts` says that Kafka may take records away from the middle while they are read.
    """

    batch: Batch
    ranges: tuple[OffsetRange, ...]
    attempt: str = field(default_factory=lambda: uuid.uuid4().hex)
    fingerprints: Mapping[TopicPartition, str | None] = field(default_factory=dict)
    compacts: bool = False

    def __str__(self) -> str:
        return str(self.batch)

    @property
    def replaces(self) -> bool:
        """Whether rows of these offsets may be there already, to be replaced in the same commit."""
        return self.batch.mode == "replace" and any(each.span for each in self.ranges)


@dataclass(frozen=True)
class QuarantineResult:
    """What a pass over a batch found: all its records, the undecodable ones, samples of reasons."""

    records: int
    undecodable: int
    samples: tuple[str, ...] = ()


class Lake(Protocol):
    """How a batch gets from Kafka into the tables."""

    def prepare(self) -> None:
        """Create the data table unless it is there."""

    def land(self, reading: BatchAttempt) -> None:
        """Commit the batch if all of it is decodable. Raises Undecodable, nothing committed.

        Raises Conflicted where another commit came in between.
        """

    def prepare_quarantine(self) -> None:
        """Create the quarantine table unless it is there."""

    def quarantine(self, reading: BatchAttempt) -> QuarantineResult:
        """Make the batch's undecodable records durable, in place of an earlier attempt's."""

    def land_decodable(self, reading: BatchAttempt) -> None:
        """Commit the batch's decodable records; the others must be in quarantine by now.

        Raises Conflicted where another commit came in between.
        """


@dataclass(frozen=True)
class Compacted:
    """How many files went, and how many took their place."""

    removed: int
    added: int

    def __str__(self) -> str:
        return f"{self.removed} files compacted into {self.added}" if self.removed else "compact"


class Upkeep(Protocol):
    """How rows and files are taken out of the data and quarantine tables.

    Raises Conflicted, nothing changed, where somebody else committed in between.
    """

    def remove_quarantined(self, rows: Sequence[BatchOffsets]) -> None:
        """Take rows out of the quarantine table, in one commit."""

    def compact(self, uri: str) -> Compacted:
        """Write a table's small files anew as few large ones; no row changes."""

    def vacuum(self, uri: str) -> None:
        """Delete files that the table has not named for as long as its retention."""
