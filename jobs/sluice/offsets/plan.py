"""A plan: new batches in order, and the losses recorded with them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sluice.offsets.batches import Batch
from sluice.offsets.losses import Loss
from sluice.offsets.quantities import format_count
from sluice.offsets.ranges import OffsetRange
from sluice.offsets.spec_edition import SpecEdition


@dataclass(frozen=True)
class LeftOut:
    """Requested offsets that are in no batch, and why."""

    offsets: OffsetRange
    reason: str

    def __str__(self) -> str:
        return f"{self.offsets}: not read again: {self.reason}"


@dataclass(frozen=True)
class ReadBeside:
    """Offsets that are read again, and how many of their records were not asked about."""

    offsets: OffsetRange
    records: int

    def __str__(self) -> str:
        return (
            f"{self.offsets}: {format_count(self.records, 'record')} outside the window read again"
            " as well, as they lie between those in it"
        )


@dataclass(frozen=True)
class Plan:
    """New batches, in order, and the losses found on the way; both are written in one commit.

    `reason` goes into the batches' rows: for the first plan it is the `start` it came from.
    `left_out` and `beside` are not written: they are reported to the caller. `spec` is what was to
    decide the rows; None where that is not known.
    """

    batches: tuple[Batch, ...]
    losses: tuple[Loss, ...] = ()
    reason: str | None = None
    left_out: tuple[LeftOut, ...] = ()
    beside: tuple[ReadBeside, ...] = ()
    spec: SpecEdition | None = None

    def __bool__(self) -> bool:
        return bool(self.batches)

    @property
    def told(self) -> tuple[str, ...]:
        """What is left out, and what is read beside what was asked for, a sentence each."""
        return tuple(map(str, (*self.left_out, *self.beside)))

    def for_tables(self, data_table_id: str | None, quarantine_table_id: str | None) -> Plan:
        """The same plan for the tables of these Delta ids; None where there is none yet."""
        batches = (each.in_tables(data_table_id, quarantine_table_id) for each in self.batches)
        return replace(self, batches=tuple(batches))
