"""The lake's ports: what the steps ask of Spark, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from sluice.columns.columns import Column
from sluice.offsets.batches import Batch
from sluice.offsets.filtered import NOTHING_FILTERED, FilteredOffsets
from sluice.offsets.quantities import format_count, format_ranges
from sluice.offsets.quarantine_tickets import NOTHING_ASIDE, SetAside, Ticket
from sluice.offsets.quarantined import BatchOffsets
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.spec_edition import SpecEdition
from sluice.state_table.collected import Collected
from sluice.state_table.commits import RowPlace, StateCollection, StateCommit
from sluice.state_table.counts import StateCounts
from sluice.state_table.rules import StateRules
from sluice.state_table.spans import Span, whole
from sluice.state_table.topic_ranks import TopicRanks
from sluice.tables.based_on import BasedOn

if TYPE_CHECKING:
    from sluice.progress.former_registries import FormerRegistry
    from sluice.progress.resources import PipelineResources


class Undecodable(Exception):
    """A pass stopped at an undecodable record; nothing was committed."""


class RecordsLeftOut(Exception):
    """Kafka holds records that the reader did not deliver; nothing was committed."""

    def __init__(self, held: Sequence[OffsetRange]) -> None:
        super().__init__(
            "[RECORDS_LEFT_OUT] the reader left out records that Kafka holds, and of which the"
            f" table has rows: {format_ranges(held)}"
        )


@dataclass(frozen=True)
class BatchAttempt:
    """One attempt at a batch: the part of its ranges that Kafka still holds, and how to read it.

    `id` goes into the commit and shows which of several attempts at a batch landed.
    `fingerprints` of the record before each range's end go there too, None if unknown; and so do
    the keys of the `spec` that decide the rows.
    `compacts` says that Kafka may remove records from the middle while they are read.
    `ticket` is the right to add its undecodable records to the quarantine, and `undecodable` how
    many there are once they are added.
    `table_id` is the Delta id of the data table that it was prepared for: it begins no write to
    another.
    `former` are registries whose numbers some of its records name, instead of the spec's.
    `filtered` are the offsets whose records it leaves out, once they are known; and those that
    earlier batches left out and that it may not change.
    `based_on` is the version of the data table that the write was begun at.
    """

    batch: Batch
    ranges: tuple[OffsetRange, ...]
    id: str
    fingerprints: Mapping[TopicPartition, str | None] = field(default_factory=dict)
    compacts: bool = False
    spec: SpecEdition | None = None
    ticket: Ticket | None = None
    undecodable: int = 0
    former: tuple[FormerRegistry, ...] = ()
    table_id: str | None = None
    filtered: FilteredOffsets = NOTHING_FILTERED
    based_on: BasedOn | None = None

    def __str__(self) -> str:
        return str(self.batch)

    @property
    def aside(self) -> SetAside:
        """What its commit says of the quarantine."""
        if self.ticket is None or not self.undecodable:
            return NOTHING_ASIDE
        return SetAside(self.undecodable, self.ticket.at)

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
    """How many records of a batch are read so far, of at most so many, in so many seconds.

    `batch` names what is read, and what for. With `and_rows` rows of the table are counted as well,
    as a replacement reads them: then nothing tells when all records are read.
    """

    batch: str
    read: int
    offsets: int
    seconds: float
    and_rows: bool = False

    @property
    def done(self) -> int:
        """What a bar shows of the offsets."""
        return min(self.read, self.offsets)

    def __str__(self) -> str:
        if not self.read:
            return f"{self.batch}: no record read yet, after {self.seconds:.0f} s"
        rate = f"{self.read / self.seconds:,.0f} per second on average"
        if self.and_rows:
            return f"{self.batch}: {self.read:,} records and rows of the table read; {rate}"
        if self.read < self.offsets:
            read = f"{format_count(self.read, 'record')} read, of {self.offsets:,} offsets"
            return f"{self.batch}: {read}; {rate}"
        read = f"all {self.offsets:,} offsets read and being written"
        return f"{self.batch}: {read}, {self.seconds:.0f} s"


Tell = Callable[[Pace], None]
ShowReading = Callable[[str, int], AbstractContextManager[Tell]]
"""Shows the reading of a batch of at most so many records while the block lasts."""


class Lake(Protocol):
    """How a batch gets from Kafka into the tables."""

    def prepare(self) -> None:
        """Create the data table unless it exists."""

    def align(self) -> None:
        """Give the data table the properties and comments that the spec has now."""

    def land(self, attempt: BatchAttempt) -> None:
        """Commit the batch if all of it is decodable. Raises Undecodable, nothing committed.

        A replacement keeps the rows whose records are gone: where the log has neither record nor
        marker. Raises RecordsLeftOut where it has a record that was not delivered, CommitConflict
        where another commit landed in between.
        """

    def prepare_quarantine(self) -> None:
        """Create the quarantine table unless it exists."""

    def quarantine(self, attempt: BatchAttempt) -> QuarantineResult:
        """Make the batch's undecodable records durable, with the ticket of the attempt.

        Rows of other attempts stay. Raises CommitConflict, and adds nothing, if the next ticket is
        another one.
        """

    def land_decodable(self, attempt: BatchAttempt) -> None:
        """Commit the batch's decodable records; the others must already be in quarantine.

        Raises RecordsLeftOut and CommitConflict as `land` does.
        """

    def state(self) -> AbstractContextManager[StateLake]:
        """What writes the state table, while the block lasts."""


class NoOrder(Exception):
    """A key has rows in two places, and nothing says which is newer; nothing was committed."""


class TruncationWithoutOrder(Exception):
    """A truncation, and nothing says which rows are below it; nothing was committed."""


class RowWithoutKey(Exception):
    """A row of the log has a null in its key; nothing was committed."""


@dataclass(frozen=True)
class StateAttempt:
    """One attempt to bring the state table to the end of a span of the log's versions.

    `columns` are those of the log there; `gives_columns` if the state table lacks some of them.
    `ranks` order the topics of one name. `commit` is what the commit will say of itself, without
    the counts.
    """

    span: Span
    rules: StateRules
    columns: tuple[Column, ...]
    ranks: TopicRanks
    commit: StateCommit
    gives_columns: bool = False

    def from_everything(self, truncation: RowPlace | None) -> StateAttempt:
        """The same, computed from the whole log, whose greatest truncation is there."""
        span = whole(self.span.after, self.span.upto)
        commit = replace(self.commit, kind=span.kind, truncation=truncation)
        return replace(self, span=span, commit=commit)


@dataclass(frozen=True)
class Difference:
    """How a state table differs from its log: how many keys, and some with what is wrong of them.

    `unordered` counts the keys that were not compared: nothing says which of their rows is newest.
    """

    keys: int
    shown: tuple[str, ...] = ()
    unordered: int = 0


class StateLake(Protocol):
    """How the state table gets the newest row of each key of the log."""

    def create(self) -> None:
        """Create the table without rows, unless it exists."""

    def follow(self, attempt: StateAttempt) -> StateCounts:
        """Make the one commit of a span; none if no row of the table changes.

        A span that adds or removes truncations is computed from the whole log. Raises NoOrder,
        TruncationWithoutOrder, RowWithoutKey, and CommitConflict where another commit came in
        between.
        """

    def foresee(self, attempt: StateAttempt) -> StateCounts:
        """What `follow` would do; nothing is written. Raises NoOrder and RowWithoutKey."""

    def differing(self, attempt: StateAttempt, most: int) -> Difference:
        """The keys that have another row than the log says, and so many of them by name.

        The attempt's commit names the version of the state table.
        """

    def deleted(self, version: int) -> int:
        """How many deleted keys that version of the state table has: they wait to be collected."""

    def collect(self, collected: Collected, told: StateCollection) -> int:
        """Take the rows of deleted keys below these offsets away in one commit; how many they are.

        The table says first that they may be gone. Raises CommitConflict.
        """


@dataclass(frozen=True)
class Compacted:
    """How many files were removed, and how many replaced them."""

    removed: int
    added: int

    def __add__(self, other: Compacted) -> Compacted:
        return Compacted(self.removed + other.removed, self.added + other.added)

    def __str__(self) -> str:
        return f"{self.removed} files compacted into {self.added}" if self.removed else "compact"


class Upkeep(Protocol):
    """How rows and files are removed from a pipeline's tables.

    Raises CommitConflict, nothing changed, where another commit landed in between.
    """

    def remove_quarantined(self, rows: Sequence[BatchOffsets]) -> None:
        """Delete rows from the quarantine table, in one commit."""

    def compact(self, uri: str) -> Compacted:
        """Rewrite a table's small files as a few large ones; no row changes."""

    def state(self) -> AbstractContextManager[StateLake]:
        """What writes the state table, while the block lasts."""

    def purge(self, uri: str) -> Compacted:
        """Rewrite a table's files with deleted rows without those; no row changes."""

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

    def state(self, resources: PipelineResources) -> AbstractContextManager[StateLake]:
        """What writes the state table. Raises SparkFailed."""
