"""Outlook: what the next run would do, what Kafka still holds, and what it may take. Pure.

Bytes and files are estimates: from record batches at the ranges' starts, and from what the newest
batches took in the table. An estimate that has nothing to go by is None.
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
    """What offsets may take: bytes in Kafka, bytes and files in the table."""

    kafka_bytes: int | None
    table_bytes: int | None
    files: int | None


@dataclass(frozen=True)
class EstimateBasis:
    """What estimates go by: bytes per offset in the log, and the newest batches' sizes.

    `split` is whether the table is cut up by columns, so that a range may become many files.
    """

    samples: Mapping[TopicPartition, float]
    sizes: BatchSizes | None
    split: bool

    def estimate(self, ranges: Iterable[OffsetRange]) -> Estimate:
        """What the ranges may take."""
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

    `adopted` are batches that were planned before, `planned` those that would be planned now.
    `notes` are sentences that belong to it. Where it `reads_again`, nothing is left for later runs,
    and the lags begin at the first offset of each partition that would be read.
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
        """All that would be read, in order."""
        return (*self.adopted, *self.planned)

    @property
    def ranges(self) -> tuple[OffsetRange, ...]:
        """The ranges that would be read, of all the batches."""
        planned = (each.offsets for batch in self.batches for each in batch.ranges)
        return tuple(each for each in planned if each.span)

    @property
    def offsets(self) -> int:
        """Offsets that would be read; records are as many, or fewer."""
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
        """How many of a partition's offsets are left for later runs."""
        if self.reads_again:
            return 0
        end = self.ends.get(lag.partition, lag.cursor)
        if lag.last_stable_offset is None or end is None:
            return None
        return max(0, lag.last_stable_offset - end)

    @property
    def later(self) -> int:
        """Offsets that are left for later runs, as far as Kafka shows them now."""
        return sum(self.left(each) or 0 for each in self.lags)

    @property
    def batches_later(self) -> int:
        """How many batches the offsets that are left would make."""
        return -(-self.later // self.max_records_per_batch)
