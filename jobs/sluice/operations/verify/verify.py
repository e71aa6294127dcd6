"""Verification: compare Kafka, the data and quarantine tables and the receipts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sluice.errors import TableRefused
from sluice.moves import YOUR_WORDS, Advice, Move, advice, options
from sluice.offsets.doubts import Doubt
from sluice.offsets.loss_spans import offsets_lost
from sluice.offsets.partition_log import Logs
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import (
    OffsetRange,
    TopicIdPartition,
    TopicPartition,
    span_of,
    within,
    without,
)
from sluice.operations.verify.asked import asked_of
from sluice.operations.verify.checks import BY_KAFKA, SAME_LOG, Violation
from sluice.operations.verify.identity import read_identity
from sluice.operations.verify.kafka_logs import KafkaLogs, Progress
from sluice.operations.verify.proof import Found, Proof, compare
from sluice.operations.verify.state_check import StateVerdict, check_state
from sluice.progress.committed import committed_ranges, losses_that_count
from sluice.progress.lacking_rows import lacking_rows
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.lost_offsets import still_lost
from sluice.progress.moved_to_another import as_moved
from sluice.progress.quarantine_trust import quarantine_way_back
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_quarantine, require_no_foreign_commits
from sluice.progress.unfinished import unfinished_backfill
from sluice.protocol.plan.doubts import find_doubt
from sluice.protocol.plan.start import next_positions
from sluice.protocol.refresh.refresh import OpenState
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

    `unread` counts offsets that no batch has read yet; `advice` leads on where runs stop, or where
    something waits. `state` is that of the state table; None where the spec has none.
    """

    batches: int
    records: int
    found: Found
    unread: int
    unsettled: tuple[str, ...]
    lost: int
    losses: int
    skipped: int
    deleted: tuple[ForeignDeletion, ...]
    advice: tuple[Advice, ...]
    state: StateVerdict | None = None

    @property
    def is_exact(self) -> bool:
        """Whether nothing contradicts, in the state table either."""
        return not self.violations and (self.state is None or self.state.is_exact)

    @property
    def violations(self) -> tuple[Violation, ...]:
        """Every violation found."""
        return tuple(self.found.violations)

    @property
    def quarantined(self) -> int:
        """The records in quarantine that count."""
        return self.found.quarantined

    @property
    def filtered(self) -> int:
        """The records that the newest batch to read them has left out."""
        return self.found.filtered

    @property
    def compared(self) -> int:
        """The records in Kafka that were compared."""
        return self.found.compared

    @property
    def unlisted(self) -> int:
        """The rows of batches from before a recovery, which have nothing but rows."""
        return self.records - self.found.rows

    @property
    def unknown(self) -> tuple[str, ...]:
        """The invariants that Kafka alone can prove, where it cannot be asked about all rows."""
        open_ = self.found.uncompared or (self.records and not self.found.compared)
        return BY_KAFKA if open_ else ()


def verify(
    resources: PipelineResources,
    progress: Progress,
    since: datetime | None,
    open_state: OpenState,
) -> Verdict:
    """Compare what is committed, all of it or since a moment, with what Kafka still holds.

    Then the state table, if there is one, with all of the data table, by Spark. Raises
    BrokerUnavailable if Kafka does not answer, ResetNeeded if it is another cluster, TableRefused
    if the tables contradict each other beyond comparison.
    """
    # Batches that land from here on are left out: their version is above this one.
    lane = read_unchecked(resources)
    asked = asked_of(lane, since)
    deletions = {e: lane.data.removed(e.version) for e in _suspected_deletions(lane, asked.above)}
    state = resources.kafka.state(resources.spec)
    identity = read_identity(resources, lane, state)
    compacting = resources.kafka.compacting({each.topic for each in state.logs})
    removed = {each.version: rows for each, rows in deletions.items() if rows is not None}
    quarantine, losses = resources.quarantine.snapshot(), losses_that_count(lane)
    with resources.kafka.offsets_reader() as read:
        logs = KafkaLogs(resources.kafka, identity, compacting, read, progress)
        found = compare(Proof(lane, quarantine, asked, losses, removed, logs))
    lost = still_lost(resources, lane)
    doubts = [each for each in (find_doubt(resources, e) for e in asked.unsettled) if each]
    ways_on = (*identity.advice(lane.pipeline), *_ways_on(resources, lane, doubts, found))
    return Verdict(
        batches=asked.batches,
        records=sum(asked.rows.values()),
        found=replace(found, violations=[*found.violations, *_in_doubt(doubts)]),
        unread=_unread(next_positions(resources, lane, state), state.logs),
        unsettled=tuple(map(str, asked.unsettled)),
        lost=offsets_lost(lost),
        losses=len(lost),
        skipped=_skipped(lane),
        deleted=tuple(_deleted(deletions)),
        advice=ways_on or tuple(_rereading(lane, found, deletions)),
        state=None if resources.spec.state is None else check_state(resources, open_state),
    )


def _ways_on(
    resources: PipelineResources, lane: LaneState, doubts: Iterable[Doubt], found: Found
) -> Iterator[Advice]:
    """What leads on from doubts, and where others took quarantined records, or added rows.

    A violation may be of records that are planned to be read again, and have not landed yet.
    """
    for each in doubts:
        yield advice(each.refusal(lane.data.log.landed_in(each.batch)))
    try:
        check_quarantine(lane)
    except TableRefused as refused:
        yield advice(refused)
    else:
        if found.violations and (lacking := lacking_rows(lane)):
            gone = f"gone from quarantine: {'; '.join(map(str, lacking))}. "
            yield advice(gone, quarantine_way_back(lane.pipeline))
    if found.violations:
        yield from map(Advice, unfinished_backfill(read_unchecked(resources, "backfill")))


def _rereading(
    lane: LaneState, found: Found, deletions: Mapping[TableCommit, StoredCoordinates | None]
) -> Iterator[Advice]:
    """What puts missing and repeated rows right, where nothing else has to be done first.

    Not where others may have deleted them, and nothing tells which rows they took; nor above the
    cursor, which the next run reads.
    """
    untold = [each for each, rows in deletions.items() if rows is None]
    below = [OffsetRange(at, 0, end) for at, end in lane.positions.items()]
    if untold and found.violations:
        named = ", ".join(f"{each.version} ({each.operation})" for each in untold)
        yield advice(
            f"others took rows away in version {named}, and the files that tell which are gone:"
            " what is missing may be among them. ",
            Move("verify", (lane.pipeline, "--since", YOUR_WORDS)),
            " proves what was committed after that.",
        )
    elif again := within((part for each in found.violations for part in each.again), below):
        reread = Move("reprocess", (lane.pipeline, *options("--range", again)))
        yield advice(reread, " puts right what is missing, repeated, or left out: Kafka holds it.")


def _in_doubt(doubts: Iterable[Doubt]) -> Iterator[Violation]:
    """Rows under a topic id, if it is not decided which topic's records they are."""
    for each in doubts:
        for doubtful in each.ranges:
            offsets, topic_id = doubtful.planned.offsets, doubtful.planned.topic_id
            expected = f"the log of topic id {topic_id} as that which {each.batch} read"
            found = f"an undecided doubt about {offsets}: {doubtful.reason}"
            yield Violation(SAME_LOG, offsets.partition, expected, found)


def _unread(cursor: Mapping[TopicPartition, int], logs: Logs) -> int:
    ends = ((each, log.nearest(cursor.get(each, 0)), log) for each, log in logs.items())
    return sum(log.last_stable_offset - begin for _, begin, log in ends)


def _skipped(lane: LaneState) -> int:
    """How many offsets resets passed over and no batch has read."""
    passed: dict[TopicIdPartition, list[OffsetRange]] = {}
    for recorded in lane.resets.by_generation.values():
        reset = as_moved(lane, recorded)
        for moved in (each for each in reset.cursor if each.skipped):
            passed.setdefault(moved.after.place, []).append(moved.passed_over)
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
