"""Counts: what became of every offset of a committed batch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from sluice.offsets.batches import Batch, PlannedRange
from sluice.offsets.loss_causes import LossCause
from sluice.offsets.losses import Loss
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition
from sluice.offsets.receipts import GapCount, PartitionCount, Receipt, Span, receipt_without_gaps
from sluice.offsets.row_offsets import Offsets
from sluice.protocol.settle.gaps import Gaps, UnexplainedGap, missing_ranges
from sluice.tables.delta_log import DeltaSnapshot

log = logging.getLogger(__name__)

# What Kafka's raw log says about missing offsets.
ExplainGaps = Callable[[TopicPartition, list[Span]], Gaps]
# Why an unexplained gap is recorded as lost; None where no decision says so.
AcceptGap = Callable[[TopicPartition, UnexplainedGap], LossCause | None]


def account(
    batch: Batch,
    data: DeltaSnapshot,
    quarantine: DeltaSnapshot,
    explain: ExplainGaps,
    accept: AcceptGap,
) -> Receipt:
    """Count a committed batch, from the very commit it landed in.

    The usual batch has a row for every offset, and the commit's own row count shows it: a partition
    cannot have more rows than offsets, so if the sum matches, every partition does. Otherwise the
    batch's coordinates are read back, and only missing offsets are looked up in Kafka's log.
    (A commit that replaces rows may also count rows that it only moved.)
    Raises GapUnexplained unless every unexplained gap is accepted as lost.
    """
    commit = data.commit_of(batch)
    if commit.rows == batch.span and batch.mode == "append":
        return receipt_without_gaps(batch, commit.version)
    rows, quarantined_rows = data.coordinates(batch, commit.version), quarantine.coordinates(batch)
    counted: list[PartitionCount] = []
    losses: list[Loss] = []
    for planned in batch.ranges:
        place = TopicIdPartition(planned.topic_id, planned.offsets.partition.partition)
        landed, quarantined = rows.offsets(place), quarantined_rows.offsets(place)
        missing = _missing(planned.offsets, landed, quarantined)
        gaps = explain(planned.offsets.partition, missing) if missing else Gaps(GapCount())
        causes = [accept(planned.offsets.partition, gap) for gap in gaps.unexplained]
        lost = list(_losses(planned, gaps, causes))
        if len(lost) == len(causes):
            losses += lost
            count = gaps.as_lost()
        else:
            count = gaps.require_explained(planned.offsets.partition)
        counted.append(PartitionCount(planned, len(landed), len(quarantined), count))
    return Receipt(batch, tuple(counted), commit.version, tuple(losses))


def _missing(offsets: OffsetRange, landed: Offsets, quarantined: Offsets) -> list[Span]:
    if len(landed) + len(quarantined) == offsets.span:
        return []
    present = np.sort(np.concatenate([landed, quarantined]))
    return missing_ranges((offsets.start, offsets.end), present)


def _losses(
    planned: PlannedRange, gaps: Gaps, causes: Iterable[LossCause | None]
) -> Iterator[Loss]:
    for gap, cause in zip(gaps.unexplained, causes, strict=True):
        if cause is not None:
            offsets = OffsetRange(planned.offsets.partition, gap.start, gap.end)
            yield Loss(offsets, planned.topic_id, cause)
