"""Verification: compare Kafka, the data and quarantine tables and the receipts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sluice.offsets.partition_log import Logs
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition, span_of, without
from sluice.operations.verify.asked import asked_of
from sluice.operations.verify.checks import Violation
from sluice.operations.verify.proof import KafkaLogs, Progress, Proof, compare
from sluice.progress.committed import committed_ranges, losses_that_count
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import require_no_foreign_commits
from sluice.protocol.plan.start import next_positions
from sluice.tables.coordinates import StoredCoordinates
from sluice.tables.foreign_commits import TableCommit, may_have_deleted


@dataclass(frozen=True)
class ForeignDeletion:
    """A commit by another writer that deleted rows; `rows` is None if their number is unknown."""

    version: int
    operation: str
    rows: int | None


@dataclass(frozen=True)
class Verdict:
    """What was checked, and every violation found.

    `unlisted` rows are of batches from before a recovery, of which nothing else is known. `unread`
    counts offsets that no batch has read yet.
    """

    batches: int
    records: int
    unlisted: int
    quarantined: int
    compared: int
    unread: int
    unsettled: tuple[str, ...]
    lost: int
    losses: int
    skipped: int
    deleted: tuple[ForeignDeletion, ...]
    violations: tuple[Violation, ...]


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
    compacting = resources.kafka.compacting({each.topic for each in state.logs})
    with resources.kafka.offsets_reader() as read:
        found = compare(
            Proof(
                lane,
                resources.quarantine.snapshot(),
                asked,
                losses,
                {each.version: rows for each, rows in deletions.items() if rows is not None},
                KafkaLogs(state, compacting, read, progress),
            )
        )
    return Verdict(
        batches=asked.batches,
        records=sum(asked.rows.values()),
        unlisted=sum(asked.rows.values()) - found.rows,
        quarantined=found.quarantined,
        compared=found.compared,
        unread=_unread(next_positions(resources, lane, state), state.logs),
        unsettled=asked.unsettled,
        lost=span_of(each.offsets for each in losses),
        losses=len(losses),
        skipped=_skipped(lane),
        deleted=tuple(_deleted(deletions)),
        violations=tuple(found.violations),
    )


def _unread(cursor: Mapping[TopicPartition, int], logs: Logs) -> int:
    ends = ((each, log.nearest(cursor.get(each, 0)), log) for each, log in logs.items())
    return sum(log.last_stable_offset - begin for _, begin, log in ends)


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
    require_no_foreign_commits(lane)
    return may_have_deleted(lane.pipeline, lane.commits(above))


def _deleted(
    deletions: Mapping[TableCommit, StoredCoordinates | None],
) -> Iterator[ForeignDeletion]:
    for commit, rows in deletions.items():
        if rows is None or rows.count:
            count = None if rows is None else rows.count
            yield ForeignDeletion(commit.version, commit.operation, count)
