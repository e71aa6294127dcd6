"""Verification: compare Kafka, the data and quarantine tables and the receipts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sluice.broker.reader import read_offsets
from sluice.offsets.loss_causes import BY_PERSON
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import (
    OffsetRange,
    TopicIdPartition,
    TopicPartition,
    merged,
    span_of,
    without,
)
from sluice.offsets.row_offsets import NO_ROWS, Offsets
from sluice.operations.verify.checks import Violation, check
from sluice.progress.committed import Committed, read_committed
from sluice.progress.evidence import CommittedRange, Evidence
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.reads import evidence_of
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import require_no_foreign_commits
from sluice.tables.coordinates import StoredCoordinates
from sluice.tables.foreign_commits import TableCommit, may_have_deleted

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
    """What was checked, and every violation found.

    `unlisted` rows are of batches from before a recovery, of which nothing else is known.
    """

    batches: int
    records: int
    unlisted: int
    quarantined: int
    compared: int
    unsettled: tuple[str, ...]
    lost: int
    losses: int
    skipped: int
    deleted: tuple[ForeignDeletion, ...]
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class _Tables:
    """What the tables hold of a pipeline, the data table at one version."""

    committed: Committed
    data: StoredCoordinates
    quarantine: StoredCoordinates
    deleted: Mapping[int, StoredCoordinates]


def verify(resources: PipelineResources, progress: Progress) -> Verdict:
    """Compare everything that is committed with what Kafka still holds.

    Raises BrokerUnavailable if Kafka does not answer, TableRefused if the tables contradict each
    other beyond comparison.
    """
    # Batches that land from here on are left out: their version is above this one.
    lane = read_unchecked(resources)
    committed, stored = read_committed(lane), lane.data.coordinates()
    deletions = {each: lane.data.removed(each.version) for each in _suspected_deletions(lane)}
    tables = _Tables(
        committed,
        stored.without(committed.unlisted(stored.names)),
        resources.quarantine.snapshot().coordinates(),
        {each.version: rows for each, rows in deletions.items() if rows is not None},
    )
    state = resources.kafka.state(resources.spec)
    places = _partitions(committed)
    evidence = [_evidence(resources, *each, tables, state, progress) for each in places.items()]
    return Verdict(
        batches=len(committed.batches),
        records=stored.count,
        unlisted=stored.count - tables.data.count,
        quarantined=sum(len(each.live.offsets) for each in evidence),
        compared=sum(len(each.visible) for each in evidence),
        unsettled=tuple(str(each.batch) for each in committed.batches if not each.settled),
        lost=span_of(each.offsets for each in committed.losses),
        losses=len(committed.losses),
        skipped=_skipped(committed),
        deleted=tuple(_deleted(deletions)),
        violations=(
            *(violation for each in evidence for violation in check(each)),
            *_strays(tables.data, places),
        ),
    )


def _skipped(committed: Committed) -> int:
    """How many offsets resets passed over and no batch has read."""
    read = [planned for landed in committed.batches for planned in landed.batch.ranges]
    unread: list[OffsetRange] = []
    for reset in committed.resets.by_generation.values():
        for moved in (each for each in reset.cursor if each.skipped):
            end = moved.after.offsets.start
            passed = OffsetRange(moved.partition, end - moved.skipped, end)
            same = [each.offsets for each in read if each.topic_id == moved.after.topic_id]
            unread += without([passed], same)
    return span_of(merged(unread))


def _suspected_deletions(lane: LaneState) -> list[TableCommit]:
    require_no_foreign_commits(lane)
    return may_have_deleted(lane.pipeline, lane.data.commits())


def _deleted(
    deletions: Mapping[TableCommit, StoredCoordinates | None],
) -> Iterator[ForeignDeletion]:
    for commit, rows in deletions.items():
        if rows is None or rows.count:
            count = None if rows is None else rows.count
            yield ForeignDeletion(commit.version, commit.operation, count)


def _strays(data: StoredCoordinates, known: Iterable[TopicIdPartition]) -> Iterator[Violation]:
    """Violations by rows of partitions that no batch has read."""
    for place in sorted(data.places.keys() - set(known)):
        offsets, _ = data.places[place]
        where = TopicPartition(f"topic id {place.topic_id or 'unknown'} ", place.partition)
        found = f"{len(offsets)} rows of a partition that none has read"
        yield Violation("no phantom", where, "rows of committed batches only", found)


def _partitions(committed: Committed) -> dict[TopicIdPartition, TopicPartition]:
    return {
        TopicIdPartition(each.topic_id, each.offsets.partition.partition): each.offsets.partition
        for landed in committed.batches
        for each in landed.batch.ranges
    }


def _evidence(
    resources: PipelineResources,
    place: TopicIdPartition,
    partition: TopicPartition,
    tables: _Tables,
    state: KafkaState,
    progress: Progress,
) -> Evidence:
    committed = tables.committed
    known = evidence_of(committed, place, tables.quarantine)
    readable = _readable(known.reads, place, partition, state)
    lost = [
        loss
        for loss in committed.losses
        if (loss.topic_id, loss.offsets.partition) == (place.topic_id, partition)
        and loss.dropped_from is None
    ]
    return replace(
        known,
        partition=partition,
        openings=_openings(committed, place, partition),
        lost=[each.offsets for each in lost],
        given_up=[each.offsets for each in lost if each.cause.kind in BY_PERSON],
        readable=readable,
        visible=_visible_offsets(resources, readable, progress),
        data=tables.data.rows(place, known.batches),
        deleted={at: rows.rows(place, known.batches) for at, rows in tables.deleted.items()},
        compacts=bool(readable) and resources.kafka.compacts(partition.topic),
    )


def _openings(
    committed: Committed, place: TopicIdPartition, partition: TopicPartition
) -> dict[int, int]:
    openings: dict[int, int] = {}
    for generation, reset in committed.resets.by_generation.items():
        after = reset.by_partition.get(partition)
        if after is not None and after.topic_id == place.topic_id:
            openings[generation] = after.offsets.start
    return openings


def _readable(
    reads: Sequence[CommittedRange],
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
