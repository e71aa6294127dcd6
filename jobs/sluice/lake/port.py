"""The lake's ports: what the steps ask of Spark, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sluice.offsets.batches import Batch
from sluice.offsets.quarantined import BatchOffsets
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.spec_edition import SpecEdition

if TYPE_CHECKING:
    from sluice.progress.resources import PipelineResources


class Undecodable(Exception):
    """A pass stopped at an undecodable record; nothing was committed."""


@dataclass(frozen=True)
class BatchAttempt:
    """One attempt at a batch: the part of its ranges that Kafka still holds, and how to read it.

    `attempt` goes into the commit and shows which of several attempts at a batch landed.
    `fingerprints` go there too: of the record before each range's end, None where unknown.
    `spec` too: what of it decides the rows.
    `compacts` says that Kafka may remove records from the middle while they are read.
    """

    batch: Batch
    ranges: tuple[OffsetRange, ...]
    attempt: str
    fingerprints: Mapping[TopicPartition, str | None] = field(default_factory=dict)
    compacts: bool = False
    spec: SpecEdition | None = None

    def __str__(self) -> str:
        return str(self.batch)

    @property
    def replaces(self) -> bool:
        """Whether the commit must replace rows of these offsets that may already exist."""
        return self.batch.mode == "replace" and any(each.span for each in self.ranges)


@dataclass(frozen=True)
class QuarantineResult:
    """The outcome of a pass over a batch: all records, the undecodable ones, sample reasons."""

    records: int
    undecodable: int
    samples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pace:
    """How many records of a batch are read so far, of at most so many, and how fast."""

    batch: str
    read: int
    offsets: int
    per_second: float

    def __str__(self) -> str:
        return (
            f"{self.batch}: {self.read:,} of {self.offsets:,} records read,"
            f" {self.per_second:,.0f} per second"
        )


Tell = Callable[[Pace], None]
ShowReading = Callable[[str, int], AbstractContextManager[Tell]]
"""Shows the reading of a batch of at most so many records while the block lasts."""


class Lake(Protocol):
    """How a batch gets from Kafka into the tables."""

    def prepare(self) -> None:
        """Create the data table unless it exists."""

    def align(self) -> None:
        """Give the data table the properties and comments that the spec has now."""

    def land(self, reading: BatchAttempt) -> None:
        """Commit the batch if all of it is decodable. Raises Undecodable, nothing committed.

        Raises CommitConflict where another commit landed in between.
        """

    def prepare_quarantine(self) -> None:
        """Create the quarantine table unless it exists."""

    def quarantine(self, reading: BatchAttempt) -> QuarantineResult:
        """Make the batch's undecodable records durable, replacing an earlier attempt's."""

    def land_decodable(self, reading: BatchAttempt) -> None:
        """Commit the batch's decodable records; the others must already be in quarantine.

        Raises CommitConflict where another commit landed in between.
        """


@dataclass(frozen=True)
class Compacted:
    """How many files were removed, and how many replaced them."""

    removed: int
    added: int

    def __str__(self) -> str:
        return f"{self.removed} files compacted into {self.added}" if self.removed else "compact"


class Upkeep(Protocol):
    """How rows and files are removed from the data and quarantine tables.

    Raises CommitConflict, nothing changed, where another commit landed in between.
    """

    def remove_quarantined(self, rows: Sequence[BatchOffsets]) -> None:
        """Delete rows from the quarantine table, in one commit."""

    def compact(self, uri: str) -> Compacted:
        """Rewrite a table's small files as a few large ones; no row changes."""

    def vacuum(self, uri: str) -> None:
        """Delete files that the table has not referenced for its retention."""


class Engine(Protocol):
    """What opens a pipeline's tables for writing, and closes them at the end of a block."""

    def lake(
        self,
        resources: PipelineResources,
        offsets: int | None,
        show: ShowReading | None = None,
    ) -> AbstractContextManager[Lake]:
        """The lake that batches of so many offsets land in (None: unknown).

        What is read is shown, or logged. Raises SparkFailed.
        """

    def upkeep(self, resources: PipelineResources) -> AbstractContextManager[Upkeep]:
        """What removes rows and files. Raises SparkFailed."""
