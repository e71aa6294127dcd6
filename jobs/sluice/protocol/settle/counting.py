"""Counts: what became of every offset of a committed batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sluice.offsets.batches import Batch, PlannedRange
from sluice.offsets.filtered import NOTHING_FILTERED, FilteredOffsets
from sluice.offsets.log_verdicts import missing_ranges
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.receipts import PartitionCount, Receipt, Span, receipt_without_gaps
from sluice.offsets.row_offsets import NO_ROWS, Offsets
from sluice.protocol.settle.gaps import Gaps, UnexplainedGap
from sluice.protocol.settle.refusal import unexplained_gaps
from sluice.tables.batch_commits import BatchCommit
from sluice.tables.coordinates import Landing
from sluice.tables.delta_snapshot import DeltaSnapshot

# The offsets of a partition that were quarantined by the batch, whatever became of them.
QuarantinedIn = Callable[[PlannedRange], Offsets]
# What Kafka's raw log, the tables and recorded losses say about missing offsets.
ExplainGaps = Callable[[PlannedRange, list[Span]], Gaps]
# Why an unexplained gap is recorded as lost; None where no decision says so.
AcceptGap = Callable[[TopicPartition, UnexplainedGap], LossCause | None]

_FILTERED_UNREADABLE = "what its commit says of the records that it left out cannot be read"
_QUARANTINE_UNREADABLE = "its rows in the quarantine table can no longer be read"


def account(
    batch: Batch,
    data: DeltaSnapshot,
    read_quarantine: Callable[[], QuarantinedIn | None],
    explain: ExplainGaps,
    accept: AcceptGap,
    doubt: str = "",
) -> Receipt:
    """Count a committed batch, from the very commit it landed in.

    The usual batch has a row for every offset, and the commit's own row count shows it: a partition
    cannot have more rows than offsets, so if the sum matches, every partition does. Where it does
    not, or where a file of the commit is not there (a worker may have written it elsewhere), the
    coordinates in the commit's files are read, and only missing offsets are looked up in Kafka's
    log. (A commit that replaces rows may also count rows that it only moved.) Which records the
    spec's `only` left out, the commit itself says.

    Where there is doubt, the caller's or that of the landing, each range counts as one gap until it
    is accepted. Raises GapUnexplained unless every unexplained gap is accepted as lost.
    """
    commit = data.log.commit_of(batch)
    if not doubt and commit and _all_landed(batch, commit) and data.has_files_of(commit):
        return replace(receipt_without_gaps(batch, commit.version), spec=commit.spec)
    landing, quarantined_in = data.landing(batch), read_quarantine()
    filtered = commit.filtered if commit else NOTHING_FILTERED
    doubt = doubt or landing.doubt or ("" if quarantined_in else _QUARANTINE_UNREADABLE)
    doubt = doubt or ("" if _is_readable(batch, filtered) else _FILTERED_UNREADABLE)
    reason = _closed_uncounted(batch, doubt, accept) if doubt else ""
    known = _Known(landing, quarantined_in or _nothing, NOTHING_FILTERED if doubt else filtered)
    lines = [_line(each, known, explain) for each in batch.ranges]
    if doubt:
        lines = [each.in_doubt() for each in lines]
    decided = [(each, gap, accept(each.at, gap)) for each in lines for gap in each.gaps.unexplained]
    refused = [(each.at, gap) for each, gap, cause in decided if cause is None]
    if refused:
        raise unexplained_gaps(batch, refused)
    losses = (each.loss(gap, cause) for each, gap, cause in decided if cause is not None)
    counted = tuple(each.counted for each in lines)
    spec = commit.spec if commit else None
    return Receipt(batch, counted, landing.version, tuple(losses), reason=reason, spec=spec)


def _all_landed(batch: Batch, commit: BatchCommit) -> bool:
    whole = commit.rows == batch.span and batch.mode == "append"
    return whole and commit.is_of(batch)


@dataclass(frozen=True)
class _Line:
    """One range of a batch: how many rows it has, and what became of the other offsets."""

    planned: PlannedRange
    records: int
    quarantined: int
    gaps: Gaps
    filtered: int = 0

    @property
    def at(self) -> TopicPartition:
        return self.planned.offsets.partition

    @property
    def counted(self) -> PartitionCount:
        """The counts, once everything unexplained is accepted as lost."""
        records = self.records + self.gaps.records
        quarantined = self.quarantined + self.gaps.quarantined
        gaps = self.gaps.as_lost()
        return PartitionCount(self.planned, records, quarantined, gaps, self.filtered)

    def in_doubt(self) -> _Line:
        return replace(self, gaps=self.gaps.all_of_kind(LossKind.UNCOUNTED))

    def loss(self, gap: UnexplainedGap, cause: LossCause) -> Loss:
        return Loss(OffsetRange(self.at, gap.start, gap.end), self.planned.topic_id, cause)


@dataclass(frozen=True)
class _Known:
    """What the tables say of a batch: its rows, and the offsets that have none."""

    landing: Landing
    quarantined_in: QuarantinedIn
    filtered: FilteredOffsets


def _line(planned: PlannedRange, known: _Known, explain: ExplainGaps) -> _Line:
    landed = _landed(known.landing, planned)
    # An attempt with another schema may have quarantined records that have landed anyway.
    quarantined = np.setdiff1d(known.quarantined_in(planned), landed)
    read = np.union1d(landed, quarantined)
    filtered = np.setdiff1d(known.filtered.within(planned.offsets), read)
    missing = _missing(planned.offsets, np.union1d(read, filtered))
    gaps = explain(planned, missing) if missing else Gaps.none()
    return _Line(planned, len(landed), len(quarantined), gaps, len(filtered))


def _is_readable(batch: Batch, filtered: FilteredOffsets) -> bool:
    try:
        for each in batch.ranges:
            filtered.within(each.offsets)
    except ValueError:
        return False
    return True


def _closed_uncounted(batch: Batch, doubt: str, accept: AcceptGap) -> str:
    """Why a batch in doubt is closed anyway; needs a decision about each of its ranges."""
    whole = [
        (each.partition, UnexplainedGap(each.start, each.end, LossKind.UNCOUNTED))
        for each in (planned.offsets for planned in batch.ranges)
        if each.span
    ]
    causes = [accept(*each) for each in whole]
    if refused := [each for each, cause in zip(whole, causes, strict=True) if cause is None]:
        raise unexplained_gaps(batch, refused, doubt)
    return "; ".join([doubt, *dict.fromkeys(str(cause) for cause in causes)])


def _nothing(planned: PlannedRange) -> Offsets:
    return NO_ROWS.offsets


def _landed(landing: Landing, planned: PlannedRange) -> Offsets:
    if landing.rows is None:
        return NO_ROWS.offsets
    place = planned.place
    return np.unique(landing.rows.offsets(place))


def _missing(offsets: OffsetRange, present: Offsets) -> list[Span]:
    if len(present) == offsets.span:
        return []
    return missing_ranges((offsets.start, offsets.end), present)
