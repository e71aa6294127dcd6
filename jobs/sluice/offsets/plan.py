"""A plan: new batches in order, and the losses recorded with them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sluice.offsets.batches import Batch
from sluice.offsets.losses import Loss
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
class Plan:
    """New batches, in order, and the losses found on the way; both are written in one commit.

    `reason` goes into the batches' rows: for the first plan it is the `start` it came from.
    `left_out` is not written: it is reported to the caller. `spec` is what was to decide the rows;
    None where that is not known.
    """

    batches: tuple[Batch, ...]
    losses: tuple[Loss, ...] = ()
    reason: str | None = None
    left_out: tuple[LeftOut, ...] = ()
    spec: SpecEdition | None = None

    def __bool__(self) -> bool:
        return bool(self.batches)

    def for_table(self, data_table_id: str | None) -> Plan:
        """The same plan for the data table of this Delta id; None where there is none yet."""
        batches = (replace(each, data_table_id=data_table_id) for each in self.batches)
        return replace(self, batches=tuple(batches))
