"""Verification: compare Kafka, the data and quarantine tables and the receipts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from sluice.broker.reader import read_offsets
from sluice.offsets.losses import Loss
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import (
    OffsetRange,
    TopicIdPartition,
    TopicPartition,
    merged,
    span_of,
    without,
)
from sluice.offsets.row_offsets import NO_ROWS, Offsets
from sluice.operations.verify.asked import Asked, asked_of
from sluice.operations.verify.checks import Violation, check
from sluice.operations.verify.slices import slices
from sluice.progress.committed import committed_ranges, losses_that_count
from sluice.progress.evidence import CommittedRange, Evidence
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.reads import evidence_of
from sluice.progress.resources import PipelineResources
from sluice.tables.coordinates import StoredCoordinates
from sluice.tables.foreign_commits import TableCommit, may_have_deleted

# Rows and ranges that are held in memory at a time.
_AT_ONCE = 5_000_000

Progress = Callable[[OffsetRange, int], None]
"""Called with the range that is being read, and the offset reached so far."""


@dataclass(frozen=True)
class ForeignDeletion:
    """A commit by another writer that deleted rows; `rows` is None if their number is unknown."""

    version: int
    operation: str
    rows: int | None


@dataclass(frozen=True)
class Verdict:
    """What was checked, and every violation found."""

    batches: int
    records: int
    quarantined: int
    compared: int
    unsettled: tuple[str, ...]
    lost: int
    losses: int
    skipped: int
    deleted: tuple[ForeignDeletion, ...]
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class _Proof:
    """What a verification has found so far; it goes through the partitions in slices."""

    resources: PipelineResources
    lane: LaneState
    asked: Asked
    losses: Sequence[Loss]
    deleted: Mapping[int, StoredCoordinates]
    state: KafkaState
    compacting: Collection[str]
    progress: Progress

    def evidence(self, places: Sequence[TopicIdPartition]) -> Iterator[Evidence]:
        """The evidence of some partitions, read together."""
        scope = self.asked.scope(places)
        committed = committed_ranges(self.lane, scope, self.asked.first, by_plan=True)
        data = self.lane.data.coordinates_in(scope)
        quarantine = self.resources.quarantine.snapshot().coordinates_in(scope)
        for place in places:
            known = evidence_of(committed, self.losses, place, quarantine)
            yield self._with_rows(known, place, data)

    def _with_rows(
        self, known: Evidence, place: TopicIdPartition, data: StoredCoordinates
    ) -> Evidence:
        partition = self.asked.names[place]
        checked = [each for each in known.reads if each.checked]
        readable = _readable(checked, place, partition, self.state)
        return replace(
            known,
            partition=partition,
            openings=self.asked.openings(self.lane.resets, place, partition),
            lost=[
                loss.offsets
                for loss in self.losses
                if (loss.topic_id, loss.offsets.partition) == (place.topic_id, partition)
                and loss.dropped_from is None
            ],
            readable=readable,
            visible=_visible_offsets(self.resources, readable, self.progress),
            data=data.rows(place, known.batches),
            deleted={at: rows.rows(place, known.batches) for at, rows in self.deleted.items()},
            compacts=bool(readable) and partition.topic in self.compacting,
        )


def verify(
    resources: PipelineResources, progress: Progress, since: datetime | None = None
) -> Verdict:
    """Compare what is committed, all of it or since a moment, with what Kafka still holds.

    Raises BrokerUnavailable if Kafka does not answer, TableRefused if the tables contradict each
    other beyond comparison.
    """
    # Batches that land from here on are left out: their version is above this one.
    lane = read_unchecked(resources)
    asked = asked_of(lane, since)
    losses = losses_that_count(lane)
    deletions = {e: lane.data.removed(e.version) for e in _suspected_deletions(lane, asked.above)}
    state = resources.kafka.state(resources.spec)
    proof = _Proof(
        resources,
        lane,
        asked,
        losses,
        {each.version: rows for each, rows in deletions.items() if rows is not None},
        state,
        resources.kafka.compacting({each.topic for each in state.logs}),
        progress,
    )
    found = _compared(proof)
    return Verdict(
        batches=asked.batches,
        records=sum(asked.rows.values()),
        quarantined=found.quarantined,
        compared=found.compared,
        unsettled=asked.unsettled,
        lost=span_of(each.offsets for each in losses),
        losses=len(losses),
        skipped=_skipped(lane),
        deleted=tuple(_deleted(deletions)),
        violations=(*found.violations, *_strays(asked)),
    )


@dataclass(frozen=True)
class _Found:
    violations: Sequence[Violation]
    quarantined: int
    compared: int


def _compared(proof: _Proof) -> _Found:
    """Check every partition; only a slice of them is in memory at a time."""
    violations: list[Violation] = []
    quarantined = compared = 0
    for places in slices(proof.asked.sizes, _AT_ONCE):
        for each in proof.evidence(places):
            violations += check(each)
            quarantined += len(each.live.offsets)
            compared += len(each.visible)
    return _Found(violations, quarantined, compared)


def _skipped(lane: LaneState) -> int:
    """How many offsets resets passed over and no batch has read."""
    passed: dict[TopicIdPartition, list[OffsetRange]] = {}
    for reset in lane.resets.by_generation.values():
        for moved in (each for each in reset.cursor if each.skipped):
            end = moved.after.offsets.start
            place = TopicIdPartition(moved.after.topic_id, moved.partition.partition)
            skipped = OffsetRange(moved.partition, end - moved.skipped, end)
            passed.setdefault(place, []).append(skipped)
    if not passed:
        return 0
    read = committed_ranges(lane, OffsetScope.of_ranges(passed))
    return sum(
        span_of(without(skipped, [each.offsets for each in read.at(place)]))
        for place, skipped in passed.items()
    )


def _suspected_deletions(lane: LaneState, above: int) -> list[TableCommit]:
    commits = lane.data.require_no_foreign_commits(lane.pipeline, above)
    return may_have_deleted(lane.pipeline, commits)


def _deleted(
    deletions: Mapping[TableCommit, StoredCoordinates | None],
) -> Iterator[ForeignDeletion]:
    for commit, rows in deletions.items():
        if rows is None or rows.count:
            count = None if rows is None else rows.count
            yield ForeignDeletion(commit.version, commit.operation, count)


def _strays(asked: Asked) -> Iterator[Violation]:
    """Violations by rows of partitions that no batch has read."""
    for place in sorted(asked.rows.keys() - asked.names.keys()):
        where = TopicPartition(f"topic id {place.topic_id or 'unknown'} ", place.partition)
        found = f"{asked.rows[place]} rows of a partition that none has read"
        yield Violation("no phantom", where, "rows of committed batches only", found)


def _readable(
    reads: Iterable[CommittedRange],
    place: TopicIdPartition,
    partition: TopicPartition,
    state: KafkaState,
) -> list[OffsetRange]:
    """What Kafka still holds of the ranges; nothing if the topic id has changed."""
    log = state.logs.get(partition)
    if log is None or log.topic_id != place.topic_id:
        return []
    return [
        OffsetRange(partition, max(each.start, log.log_start_offset), each.end)
        for each in merged([read.offsets for read in reads])
        if each.end > log.log_start_offset
    ]


def _visible_offsets(
    resources: PipelineResources, ranges: Iterable[OffsetRange], progress: Progress
) -> Offsets:
    found = [NO_ROWS.offsets]
    for each in ranges:
        for offsets in read_offsets(resources.client, each):
            if offsets:
                found.append(np.array(offsets, dtype=np.int64))
                progress(each, offsets[-1] + 1)
        progress(each, each.end)
    return np.concatenate(found)
