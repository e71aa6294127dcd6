"""The proof of one verification: partition by partition, what was read against what is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sluice.offsets.filtered import FilteredOffsets
from sluice.offsets.losses import Loss
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import TopicIdPartition, TopicPartition
from sluice.operations.verify.asked import Asked
from sluice.operations.verify.checks import SAME_LOG, Violation, check
from sluice.operations.verify.identity import Comparable, Why
from sluice.operations.verify.kafka_logs import KafkaLogs
from sluice.operations.verify.rows_before import check_rows_before
from sluice.operations.verify.slices import slices
from sluice.progress.committed import committed_ranges, unlisted
from sluice.progress.evidence import Evidence
from sluice.progress.filtered_records import logged_filters, with_filtered
from sluice.progress.lane_state import LaneState
from sluice.progress.reads import evidence_of
from sluice.progress.set_aside import places_set_aside
from sluice.tables.coordinates import StoredCoordinates
from sluice.tables.quarantine_table import QuarantineSnapshot

# Rows and ranges that are held in memory at a time.
_AT_ONCE = 5_000_000


@dataclass(frozen=True)
class Uncompared:
    """Rows of a partition that cannot be compared with Kafka."""

    partition: TopicPartition
    topic_id: str
    rows: int
    why: Why


@dataclass(frozen=True)
class Found:
    """What the proof has found, and how much it has compared.

    `below_start` counts the rows below the log start, `compacted_away` those whose records the log
    cleaner has removed since, `only_here` those whose records Kafka has lost since: a segment, or
    the end of the log.
    """

    violations: Sequence[Violation]
    rows: int
    quarantined: int
    filtered: int
    compared: int
    uncompared: Sequence[Uncompared]
    below_start: int
    compacted_away: int
    only_here: int


@dataclass(frozen=True)
class _Examined:
    """The evidence of a partition, and the part that can be compared with Kafka."""

    place: TopicIdPartition
    evidence: Evidence
    known: Comparable

    @property
    def uncompared(self) -> Iterator[Uncompared]:
        """The rows that are not, except those whose record Kafka no longer holds."""
        offsets, why = self.evidence.data.offsets, self.known.why
        rows = len(offsets) if why is not None else 0
        if self.known.log is not None and self.known.below is not None:
            rows, why = int(np.count_nonzero(offsets >= self.known.below)), Why.NOT_READ_AGAIN
        if rows and why is not None:
            yield Uncompared(self.evidence.partition, self.place.topic_id, rows, why)

    @property
    def below_start(self) -> int:
        """How many rows lie below the log start."""
        log = self.known.log
        offsets = self.evidence.data.offsets
        return 0 if log is None else int(np.count_nonzero(offsets < log.log_start_offset))

    @property
    def compacted_away(self) -> int:
        """How many rows have records that were compacted away since."""
        evidence = self.evidence
        return int(np.count_nonzero(np.isin(evidence.data.offsets, evidence.compacted_away)))

    @property
    def only_here(self) -> int:
        """How many rows have records that Kafka has lost since."""
        log, evidence = self.known.log, self.evidence
        if log is None:
            return 0
        lost = np.setdiff1d(evidence.unseen, evidence.never)
        compared = evidence.data.offsets
        if self.known.below is not None:
            compared = compared[compared < self.known.below]
        behind = np.count_nonzero(compared >= log.last_stable_offset)
        return int(np.count_nonzero(np.isin(compared, lost)) + behind)


@dataclass(frozen=True)
class Proof:
    """What is compared: the tables at one version, and what Kafka holds."""

    lane: LaneState
    quarantine: QuarantineSnapshot
    asked: Asked
    losses: Sequence[Loss]
    deleted: Mapping[int, StoredCoordinates]
    kafka: KafkaLogs

    @cached_property
    def _left_out(self) -> Mapping[str, FilteredOffsets]:
        return logged_filters(self.lane)

    def evidence(self, places: Sequence[TopicIdPartition]) -> Iterator[_Examined]:
        """The evidence of some partitions, read together."""
        scope = self.asked.scope(places)
        committed = committed_ranges(self.lane, scope, self.asked.first, by_plan=True)
        data = self.stored(scope)
        quarantine = places_set_aside(self.lane, self.quarantine, scope)
        for place in places:
            known = evidence_of(committed, self.losses, place, quarantine)
            yield self._with_rows(known, place, data)

    def stored(self, scope: OffsetScope) -> StoredCoordinates:
        """The data table's rows, except those of batches that only their rows still show."""
        rows = self.lane.data.coordinates_in(scope)
        return rows.without(unlisted(self.lane, rows.names))

    def _with_rows(
        self, known: Evidence, place: TopicIdPartition, data: StoredCoordinates
    ) -> _Examined:
        partition = self.asked.names[place]
        checked = [each for each in known.reads if each.checked]
        comparable = self.kafka.identity.of(place, partition)
        readable = self.kafka.readable(checked, partition, comparable)
        found = replace(
            with_filtered(self._left_out, known),
            partition=partition,
            openings=self.asked.openings(self.lane.resets, place, partition),
            readable=readable,
            visible=self.kafka.visible(readable),
            data=data.rows(place, known.batches),
            deleted={at: rows.rows(place, known.batches) for at, rows in self.deleted.items()},
            compacts=bool(readable) and partition.topic in self.kafka.compacting,
        )
        never = self.kafka.never(partition, found.unseen)
        return _Examined(place, replace(found, never=never), comparable)


def compare(proof: Proof) -> Found:
    """Check every partition; only a slice of them is in memory at a time."""
    violations = [
        Violation(SAME_LOG, each.partition, each.expected, each.found)
        for each in proof.kafka.identity.changed.values()
    ]
    rows = quarantined = filtered = compared = below_start = compacted = only_here = 0
    uncompared: list[Uncompared] = []
    for places in slices(proof.asked.sizes, _AT_ONCE):
        for each in proof.evidence(places):
            evidence = each.evidence
            violations += check(evidence)
            rows += len(evidence.data.offsets)
            quarantined += len(evidence.live.offsets)
            filtered += evidence.left_out
            compared += len(evidence.visible)
            uncompared += each.uncompared
            below_start += each.below_start
            compacted += each.compacted_away
            only_here += each.only_here
    strays = list(_strays(proof))
    rows += sum(each.rows for each in strays)
    violations += [each.violation for each in strays]
    if proof.asked.ranges is None:
        violations += check_rows_before(proof.lane, proof.asked.rows, _AT_ONCE)
    counts = rows, quarantined, filtered, compared
    return Found(violations, *counts, uncompared, below_start, compacted, only_here)


@dataclass(frozen=True)
class _Stray:
    place: TopicIdPartition
    rows: int

    @property
    def violation(self) -> Violation:
        topic = f"topic id {self.place.topic_id or 'unknown'} "
        found = f"{self.rows} rows of a partition that none has read"
        where = TopicPartition(topic, self.place.partition)
        return Violation("no phantom", where, "rows of committed batches only", found)


def _strays(proof: Proof) -> Iterator[_Stray]:
    """The rows of partitions that no batch has read."""
    for place in sorted(proof.asked.rows.keys() - proof.asked.names.keys()):
        rows = proof.asked.rows[place]
        if place.topic_id and place.partition >= 0:
            rows = len(proof.stored(OffsetScope.whole([place])).offsets(place))
        if rows:
            yield _Stray(place, rows)
