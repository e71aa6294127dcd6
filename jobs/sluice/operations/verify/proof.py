"""The proof of one verification: partition by partition, what was read against what is there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sluice.broker.port import ReadOffsets
from sluice.offsets.loss_causes import BY_PERSON
from sluice.offsets.losses import Loss
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition, merged
from sluice.offsets.row_offsets import NO_ROWS, Offsets
from sluice.operations.verify.asked import Asked
from sluice.operations.verify.checks import Violation, check
from sluice.operations.verify.slices import slices
from sluice.progress.committed import committed_ranges, unlisted
from sluice.progress.evidence import CommittedRange, Evidence
from sluice.progress.lane_state import LaneState
from sluice.progress.reads import evidence_of
from sluice.tables.coordinates import StoredCoordinates
from sluice.tables.delta_log import DeltaSnapshot

# Rows and ranges that are held in memory at a time.
_AT_ONCE = 5_000_000

Progress = Callable[[OffsetRange, int], None]
"""Called with the range that is being read, and the offset reached so far."""


@dataclass(frozen=True)
class Found:
    """What the proof has found, and how much it has compared."""

    violations: Sequence[Violation]
    rows: int
    quarantined: int
    compared: int


@dataclass(frozen=True)
class KafkaLogs:
    """What Kafka holds, and how its records are read."""

    state: KafkaState
    compacting: Collection[str]
    read: ReadOffsets
    progress: Progress

    def readable(
        self, reads: Iterable[CommittedRange], place: TopicIdPartition, partition: TopicPartition
    ) -> list[OffsetRange]:
        """What Kafka still holds of the ranges; nothing if the topic id has changed."""
        log = self.state.logs.get(partition)
        if log is None or log.topic_id != place.topic_id:
            return []
        return [
            OffsetRange(partition, max(each.start, log.log_start_offset), each.end)
            for each in merged([read.offsets for read in reads])
            if each.end > log.log_start_offset
        ]

    def visible(self, ranges: Iterable[OffsetRange]) -> Offsets:
        """The offsets there that a read_committed client sees."""
        found = [NO_ROWS.offsets]
        for each in ranges:
            for offsets in self.read(each):
                if offsets:
                    found.append(np.array(offsets, dtype=np.int64))
                    self.progress(each, offsets[-1] + 1)
            self.progress(each, each.end)
        return np.concatenate(found)


@dataclass(frozen=True)
class Proof:
    """What is compared: the tables at one version, and what Kafka holds."""

    lane: LaneState
    quarantine: DeltaSnapshot
    asked: Asked
    losses: Sequence[Loss]
    deleted: Mapping[int, StoredCoordinates]
    kafka: KafkaLogs

    def evidence(self, places: Sequence[TopicIdPartition]) -> Iterator[Evidence]:
        """The evidence of some partitions, read together."""
        scope = self.asked.scope(places)
        committed = committed_ranges(self.lane, scope, self.asked.first, by_plan=True)
        data = self.stored(scope)
        quarantine = self.quarantine.coordinates_in(scope)
        for place in places:
            known = evidence_of(committed, self.losses, place, quarantine)
            yield self._with_rows(known, place, data)

    def stored(self, scope: OffsetScope) -> StoredCoordinates:
        """The data table's rows, but for those of batches that only rows still tell of."""
        rows = self.lane.data.coordinates_in(scope)
        return rows.without(unlisted(self.lane, rows.names))

    def _with_rows(
        self, known: Evidence, place: TopicIdPartition, data: StoredCoordinates
    ) -> Evidence:
        partition = self.asked.names[place]
        checked = [each for each in known.reads if each.checked]
        readable = self.kafka.readable(checked, place, partition)
        lost = [
            loss
            for loss in self.losses
            if (loss.topic_id, loss.offsets.partition) == (place.topic_id, partition)
            and loss.dropped_from is None
        ]
        return replace(
            known,
            partition=partition,
            openings=self.asked.openings(self.lane.resets, place, partition),
            lost=[each.offsets for each in lost],
            given_up=[each.offsets for each in lost if each.cause.kind in BY_PERSON],
            readable=readable,
            visible=self.kafka.visible(readable),
            data=data.rows(place, known.batches),
            deleted={at: rows.rows(place, known.batches) for at, rows in self.deleted.items()},
            compacts=bool(readable) and partition.topic in self.kafka.compacting,
        )


def compare(proof: Proof) -> Found:
    """Check every partition; only a slice of them is in memory at a time."""
    violations: list[Violation] = []
    rows = quarantined = compared = 0
    for places in slices(proof.asked.sizes, _AT_ONCE):
        for each in proof.evidence(places):
            violations += check(each)
            rows += len(each.data.offsets)
            quarantined += len(each.live.offsets)
            compared += len(each.visible)
    strays = list(_strays(proof))
    rows += sum(each.rows for each in strays)
    violations += [each.violation for each in strays]
    return Found(violations, rows, quarantined, compared)


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
