"""Outlook: what the next run would do, what Kafka still holds, and estimated sizes. Pure.

Bytes and files are estimates: from record batches at the ranges' starts, and from the sizes of the
newest batches in the table. An estimate without a basis is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sluice.offsets.batch_sizes import BatchSizes
from sluice.offsets.batches import Batch
from sluice.offsets.lag import Lag
from sluice.offsets.losses import Loss
from sluice.offsets.ranges import OffsetRange, TopicPartition


@dataclass(frozen=True)
class Estimate:
    """Estimated sizes of ranges: bytes in Kafka, bytes and files in the table."""

    kafka_bytes: int | None
    table_bytes: int | None
    files: int | None


@dataclass(frozen=True)
class EstimateBasis:
    """What estimates are based on: bytes per offset in the log, and the newest batches' sizes.

    `split`: the table is partitioned or clustered, so one range may become many files.
    """

    samples: Mapping[TopicPartition, float]
    sizes: BatchSizes | None
    split: bool

    def estimate(self, ranges: Iterable[OffsetRange]) -> Estimate:
        """Estimate the sizes of the ranges."""
        read = [each for each in ranges if each.span]
        offsets = sum(each.span for each in read)
        sampled = [self.samples.get(each.partition) for each in read]
        kafka = [
            each.span * size for each, size in zip(read, sampled, strict=True) if size is not None
        ]
        sizes = self.sizes
        files: float | None = None if self.split else len(read)
        if sizes is not None:
            files = len(read) * sizes.files / sizes.ranges
        return Estimate(
            kafka_bytes=round(sum(kafka)) if len(kafka) == len(read) else None,
            table_bytes=round(offsets * sizes.size / sizes.rows) if sizes else None,
            files=None if files is None else max(round(files), bool(read)),
        )


@dataclass(frozen=True)
class Outlook:
    """What the next run would do.

    `adopted` are batches planned before, `planned` those that would be planned now, `notes` are
    sentences about them. If it `reads_again`, nothing is left for later runs, and each lag begins
    at the first offset of its partition that would be read.
    """

    pipeline: str
    adopted: tuple[Batch, ...]
    planned: tuple[Batch, ...]
    losses: tuple[Loss, ...]
    lags: tuple[Lag, ...]
    basis: EstimateBasis
    max_records_per_batch: int
    notes: tuple[str, ...] = ()
    reads_again: bool = False

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The batches that would be read, in order."""
        return (*self.adopted, *self.planned)

    @property
    def ranges(self) -> tuple[OffsetRange, ...]:
        """The non-empty ranges of all batches."""
        planned = (each.offsets for batch in self.batches for each in batch.ranges)
        return tuple(each for each in planned if each.span)

    @property
    def offsets(self) -> int:
        """Number of offsets that would be read; there may be fewer records."""
        return sum(each.span for each in self.ranges)

    @property
    def ends(self) -> Mapping[TopicPartition, int]:
        """Where each partition's cursor would be after the run."""
        return {
            each.offsets.partition: each.offsets.end
            for batch in self.batches
            for each in batch.ranges
        }

    def left(self, lag: Lag) -> int | None:
        """How many offsets of a partition are left for later runs; None if unknown."""
        if self.reads_again:
            return 0
        end = self.ends.get(lag.partition, lag.cursor)
        if lag.last_stable_offset is None or end is None:
            return None
        return max(0, lag.last_stable_offset - end)

    @property
    def later(self) -> int:
        """How many offsets Kafka shows now that are left for later runs."""
        return sum(self.left(each) or 0 for each in self.lags)

    @property
    def batches_later(self) -> int:
        """How many batches the offsets left for later runs would fill."""
        return -(-self.later // self.max_records_per_batch)
