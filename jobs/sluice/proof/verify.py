"""Verifying: hold Kafka, the data and quarantine tables and the receipts against each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.broker.kafka_reader import KafkaReader
from sluice.broker.kafka_state import KafkaState
from sluice.pipeline.parts import Parts
from sluice.planning.batches import Batch, PlannedRange
from sluice.planning.ranges import OffsetRange, TopicPartition
from sluice.proof.accounting import Counted, Receipt
from sluice.proof.checks import Evidence, Offsets, Violation, check
from sluice.tables.data_log import offsets_of
from sluice.tables.offsets_rows import read_losses

Progress = Callable[[OffsetRange, int], None]
"""Called with what is read of a partition in all, and the offset that was reached."""


@dataclass(frozen=True)
class Verdict:
    """What was looked at, and everything that is wrong with it."""

    batches: int
    records: int
    quarantined: int
    compared: int
    unsettled: tuple[str, ...]
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class _Tables:
    """What the tables hold of a pipeline."""

    batches: tuple[Batch, ...]
    receipts: tuple[Receipt, ...]
    losses: tuple[OffsetRange, ...]
    settled: int
    data: pa.Table
    quarantine: pa.Table

    def ranges(self, partition: TopicPartition) -> list[OffsetRange]:
        found = (batch.by_partition.get(partition) for batch in self.batches)
        return [planned.offsets for planned in found if planned]

    def settled_ranges(self, partition: TopicPartition) -> int:
        settled = (batch for batch in self.batches if batch.number <= self.settled)
        return sum(partition in batch.by_partition for batch in settled)

    def lines(self, partition: TopicPartition) -> list[Counted]:
        lines = (line for receipt in self.receipts for line in receipt.counted)
        return [line for line in lines if line.planned.offsets.partition == partition]


def verify(parts: Parts, progress: Progress) -> Verdict:
    """Compare everything that is committed with what Kafka still holds.

    Raises BrokerUnavailable when Kafka does not answer, TableRefused when the tables contradict
    each other beyond comparison.
    """
    snapshot, history, committed = parts.progress(parts.offsets.snapshot)
    batches = snapshot.batches(history.sequence, last=committed)
    tables = _Tables(
        batches=batches,
        receipts=tuple(snapshot.receipts(history.sequence, newest=history.settled)),
        losses=tuple(read_losses(snapshot.rows(history.sequence, ["loss"]))),
        settled=history.settled,
        data=parts.data.coordinates(),
        quarantine=_live(parts.quarantine.coordinates(), batches),
    )
    state = parts.kafka.state(parts.spec)
    last = tables.batches[-1].ranges if tables.batches else ()
    evidence = [_evidence(parts, each, tables, state, progress) for each in last]
    return Verdict(
        batches=len(tables.batches),
        records=tables.data.num_rows,
        quarantined=tables.quarantine.num_rows,
        compared=sum(len(each.visible) for each in evidence),
        unsettled=tuple(str(each) for each in tables.batches if each.number > history.settled),
        violations=tuple(violation for each in evidence for violation in check(each)),
    )


def _live(quarantine: pa.Table, committed: tuple[Batch, ...]) -> pa.Table:
    """The rows of committed batches: an unfinished batch may have left some before its commit."""
    names = pa.array([str(batch) for batch in committed], pa.string())
    return quarantine.filter(pc.is_in(quarantine["_batch"], value_set=names))


def _evidence(
    parts: Parts, last: PlannedRange, tables: _Tables, state: KafkaState, progress: Progress
) -> Evidence:
    partition = last.offsets.partition
    ranges = tables.ranges(partition)
    readable = _readable(ranges, last, state)
    return Evidence(
        partition=partition,
        ranges=ranges,
        settled=tables.settled_ranges(partition),
        lost=[each for each in tables.losses if each.partition == partition],
        receipts=tables.lines(partition),
        readable=readable,
        visible=_visible(parts, readable, progress),
        data=offsets_of(tables.data, last).to_numpy(),
        quarantined=offsets_of(tables.quarantine, last).to_numpy(),
        compacts=parts.kafka.compacts(partition.topic) if readable.span else False,
    )


def _readable(ranges: list[OffsetRange], last: PlannedRange, state: KafkaState) -> OffsetRange:
    """What Kafka still holds of the ranges; nothing when the topic is not the same any more."""
    partition, end = last.offsets.partition, last.offsets.end
    log = state.logs.get(partition)
    if log is None or log.topic_id != last.topic_id:
        return OffsetRange(partition, end, end)
    start = min(max(ranges[0].start, log.log_start_offset), end)
    return OffsetRange(partition, start, end)


def _visible(parts: Parts, wanted: OffsetRange, progress: Progress) -> Offsets:
    found: list[Offsets] = []
    for offsets in KafkaReader(parts.client).offsets(wanted) if wanted.span else ():
        if offsets:
            found.append(np.array(offsets, dtype=np.int64))
            progress(wanted, offsets[-1] + 1)
    progress(wanted, wanted.end)
    return np.concatenate(found) if found else np.array([], dtype=np.int64)
