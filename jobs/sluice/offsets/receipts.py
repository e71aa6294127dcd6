"""Receipts: what became of every offset of a batch, partition by partition.

records + quarantined + filtered + gaps == end - start.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sluice.offsets.batches import Batch, PlannedRange
from sluice.offsets.losses import Loss
from sluice.offsets.origin import Origin
from sluice.offsets.spec_edition import SpecEdition


@dataclass(frozen=True)
class PartitionCount:
    """What became of a planned range's offsets. Raises ValueError if the counts do not add up."""

    planned: PlannedRange
    records: int
    quarantined: int
    gaps: GapCount
    filtered: int = 0

    def __post_init__(self) -> None:
        found = self.records + self.quarantined + self.filtered + self.gaps.total
        if (
            found != self.planned.offsets.span
            or min(self.records, self.quarantined, self.filtered, self.gaps.least) < 0
        ):
            raise ValueError(
                f"{self.planned.offsets}: expected {self.planned.offsets.span} offsets accounted"
                f" for, found {self.records} records + {self.quarantined} quarantined"
                f" + {self.filtered} filtered + {self.gaps.total} gaps"
            )


@dataclass(frozen=True)
class Receipt:
    """A committed batch, its counts, and the version of the data table it landed in.

    `losses` are the offsets of the batch that Kafka no longer held when it was read. `reason` says
    why a batch was closed that could not be counted; its version is then the latest it can be.
    `recorded` is set on receipts read back from the table. `spec` is what decided the rows, by the
    batch's commit; None where that does not say it.
    """

    batch: Batch
    counted: tuple[PartitionCount, ...]
    data_version: int
    losses: tuple[Loss, ...] = ()
    reason: str = ""
    recorded: Origin | None = field(default=None, compare=False)
    spec: SpecEdition | None = field(default=None, compare=False)

    @property
    def records(self) -> int:
        """Rows in the data table."""
        return sum(each.records for each in self.counted)

    @property
    def quarantined(self) -> int:
        """Rows in the quarantine table."""
        return sum(each.quarantined for each in self.counted)

    @property
    def filtered(self) -> int:
        """Records that the spec's `only` left out."""
        return sum(each.filtered for each in self.counted)

    @property
    def lost(self) -> int:
        """Lost offsets."""
        return sum(each.gaps.lost for each in self.counted)

    @property
    def gaps(self) -> int:
        """Offsets without a record that was read."""
        return sum(each.gaps.total for each in self.counted)


def receipt_without_gaps(batch: Batch, data_version: int) -> Receipt:
    """The receipt of a batch in which every offset became a row of the data table."""
    counted = (PartitionCount(each, each.offsets.span, 0, GapCount()) for each in batch.ranges)
    return Receipt(batch, tuple(counted), data_version)


Span = tuple[int, int]
"""Offsets `[start, end)`; the context names the partition."""


@dataclass(frozen=True)
class GapCount:
    """Offsets without a row, by kind."""

    control: int = 0
    aborted: int = 0
    compacted: int = 0
    lost: int = 0

    def __add__(self, other: GapCount) -> GapCount:
        return GapCount(
            self.control + other.control,
            self.aborted + other.aborted,
            self.compacted + other.compacted,
            self.lost + other.lost,
        )

    @property
    def total(self) -> int:
        """The sum of all kinds."""
        return self.control + self.aborted + self.compacted + self.lost

    @property
    def least(self) -> int:
        """The smallest of the counts."""
        return min(self.control, self.aborted, self.compacted, self.lost)
