"""Accounting: records + quarantined + gaps == end - start, for every partition of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field

from sluice.planning.batches import Batch, PlannedRange
from sluice.planning.findings import Loss
from sluice.planning.recorded import Recorded
from sluice.proof.gaps import GapCount


@dataclass(frozen=True)
class Counted:
    """What became of a planned range's offsets. Raises ValueError if they do not add up."""

    planned: PlannedRange
    records: int
    quarantined: int
    gaps: GapCount

    def __post_init__(self) -> None:
        found = self.records + self.quarantined + self.gaps.total
        if (
            found != self.planned.offsets.span
            or min(self.records, self.quarantined, self.gaps.least) < 0
        ):
            raise ValueError(
                f"{self.planned.offsets}: expected {self.planned.offsets.span} offsets accounted"
                f" for, found {self.records} records + {self.quarantined} quarantined"
                f" + {self.gaps.total} gaps"
            )


@dataclass(frozen=True)
class Receipt:
    """A committed batch with its counts and the data table's version that it landed in.

    `losses` are the offsets of the batch that Kafka no longer held when it was read. `recorded` is
    known of receipts that were read back.
    """

    batch: Batch
    counted: tuple[Counted, ...]
    data_version: int
    losses: tuple[Loss, ...] = ()
    recorded: Recorded | None = field(default=None, compare=False)

    @property
    def records(self) -> int:
        """Rows in the data table."""
        return sum(each.records for each in self.counted)

    @property
    def quarantined(self) -> int:
        """Rows in the quarantine table."""
        return sum(each.quarantined for each in self.counted)

    @property
    def lost(self) -> int:
        """Offsets that are lost."""
        return sum(each.gaps.lost for each in self.counted)

    @property
    def gaps(self) -> int:
        """Offsets without a row."""
        return sum(each.gaps.total for each in self.counted)


def full(batch: Batch, data_version: int) -> Receipt:
    """The receipt of a batch in which every offset became a row of the data table."""
    counted = (Counted(each, each.offsets.span, 0, GapCount()) for each in batch.ranges)
    return Receipt(batch, tuple(counted), data_version)
