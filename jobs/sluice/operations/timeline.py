"""A timeline: when each of a pipeline's newest batches was planned, committed and settled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.origin import Origin
from sluice.offsets.receipts import Receipt
from sluice.operations.history import PipelineHistory, SettledBatch, history_of, newest_batches
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources

# When versions of a table were committed, by the table's id and the version: it never changes.
Landings = dict[tuple[str, int], datetime | None]


@dataclass(frozen=True)
class BatchFigures:
    """A batch summed up over its partitions.

    `before` is how many offsets were unread when it was planned, from its start; `left` how many of
    them it leaves; `last_stable` where the logs ended then. The others are those of its receipt.
    """

    before: int
    left: int
    last_stable: int
    records: int = 0
    quarantined: int = 0
    filtered: int = 0

    @property
    def read(self) -> int:
        """All records that it met."""
        return self.records + self.quarantined + self.filtered

    @property
    def share(self) -> float:
        """The part of its records that went to quarantine; 0 without records."""
        found = self.records + self.quarantined
        return self.quarantined / found if found else 0.0


@dataclass(frozen=True)
class TimedBatch:
    """One batch over time.

    `planned` is None if its plan is not left. `committed` is by the data table's own log; None
    where it is not committed, or the log does not tell. `receipt` is None while it is not settled,
    and `undone` if a reset closed its generation before it. `doubt`: it is, or was, in doubt.
    """

    batch: Batch
    planned: Origin | None
    committed: datetime | None = None
    receipt: Receipt | None = None
    undone: bool = False
    doubt: bool = False

    @classmethod
    def of(cls, each: SettledBatch, committed: datetime | None = None) -> TimedBatch:
        """A batch with a receipt."""
        return cls(each.receipt.batch, each.planned, committed, each.receipt, each.undone)

    @property
    def settled(self) -> Origin | None:
        """Who wrote the receipt, and when; None while there is none."""
        return self.receipt.recorded if self.receipt else None

    @property
    def landed(self) -> datetime | None:
        """When its rows came, at the latest; None while they are not there."""
        if self.undone:
            return None
        return self.committed or (self.settled.at if self.settled else None)

    @cached_property
    def figures(self) -> BatchFigures:
        """Its figures; of very many partitions, they take a while."""
        before = left = stable = 0
        for each in self.batch.ranges:
            before += max(0, each.last_stable_offset - each.offsets.start)
            left += max(0, each.last_stable_offset - each.offsets.end)
            stable += each.last_stable_offset
        found = self.receipt
        if found is None:
            return BatchFigures(before, left, stable)
        return BatchFigures(before, left, stable, found.records, found.quarantined, found.filtered)

    @property
    def by_another_run(self) -> bool:
        """Whether another run settled it than the one that planned it: that one had ended."""
        planned, settled = self.planned, self.settled
        return bool(planned and settled and planned.run_id != settled.run_id)


@dataclass(frozen=True)
class PipelineTimeline:
    """A pipeline's history, and its batches over time in the order of their plans."""

    history: PipelineHistory
    batches: tuple[TimedBatch, ...]


def read_timeline(
    resources: PipelineResources, newest: int, known: Landings | None = None
) -> PipelineTimeline:
    """The newest batches, and those that wait for their commit or receipt. Does not contact Kafka.

    `known` is when versions were committed, and gets what is read here.
    """
    lane = read_unchecked(resources)
    history = history_of(resources, lane, newest)
    landings = {} if known is None else known
    settled = [
        replace(
            TimedBatch.of(each, _committed(lane, each.receipt, landings)),
            doubt=_in_doubt(lane, each.receipt.batch),
        )
        for each in history.batches
    ]
    waiting = [each for one in (lane, lane.in_lane("backfill")) for each in _waiting(one, newest)]
    found = PipelineTimeline(history, (*settled, *waiting))
    for each in found.batches:
        # Here, and not while anyone waits for a page.
        _ = each.figures
    return found


def read_lag_series(resources: PipelineResources, newest: int) -> tuple[TimedBatch, ...]:
    """The newest batches of all lanes with a receipt, for a small picture of the lag."""
    return tuple(map(TimedBatch.of, newest_batches(read_unchecked(resources), newest)))


def _committed(lane: LaneState, receipt: Receipt, known: Landings) -> datetime | None:
    table = lane.data.table_id or ""
    # A copy that took the table's place counts its versions anew; and a receipt with a reason
    # stands for a batch that was closed, in a version that is only the latest it can be.
    if receipt.reason or receipt.batch.data_table_id not in (None, table):
        return None
    place = table, receipt.data_version
    if place not in known:
        known[place] = lane.data.log.written_at(receipt.data_version)
    return known[place]


def _waiting(lane: LaneState, most: int) -> Iterator[TimedBatch]:
    """The batches of a lane without a receipt, the oldest first."""
    by_sequence: dict[BatchSequence, list[Batch]] = {}
    for each in (*lane.due, *lane.unfinished)[:most]:
        by_sequence.setdefault(each.sequence, []).append(each)
    for sequence, found in by_sequence.items():
        planned = lane.snapshot.planned_by(sequence, found[0].number, found[-1].number)
        for each in found:
            landed = each.number <= lane.committed_of(sequence)
            at = lane.data.log.committed_at(each) if landed else None
            yield TimedBatch(each, planned.get(each.number), at, doubt=_in_doubt(lane, each))


def _in_doubt(lane: LaneState, batch: Batch) -> bool:
    return lane.snapshot.doubt_about(batch) is not None
