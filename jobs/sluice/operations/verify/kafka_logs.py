"""Kafka's logs in a proof: what they still hold of what was read, and what they show there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np

from sluice.broker.port import Cluster, ReadOffsets
from sluice.offsets.log_verdicts import NEVER_A_RECORD
from sluice.offsets.offset_runs import OffsetRuns
from sluice.offsets.ranges import OffsetRange, TopicPartition, merged
from sluice.offsets.row_offsets import NO_ROWS, Offsets, offsets_of
from sluice.operations.verify.identity import Comparable, Identity
from sluice.progress.committed_ranges import CommittedRange
from sluice.progress.log_lookup import look_up

Progress = Callable[[OffsetRange, int], None]
"""Called with the range that is being read, and the offset reached so far."""


@dataclass(frozen=True)
class KafkaLogs:
    """What Kafka holds, and how its records are read."""

    cluster: Cluster
    identity: Identity
    compacting: Collection[str]
    read: ReadOffsets
    progress: Progress

    def readable(
        self, reads: Iterable[CommittedRange], partition: TopicPartition, known: Comparable
    ) -> list[OffsetRange]:
        """What Kafka still holds of the ranges, as far as it can be compared."""
        log = known.log
        if log is None:
            return []
        end = log.last_stable_offset if known.below is None else known.below
        clipped = (
            (max(each.start, log.log_start_offset), min(each.end, end, log.last_stable_offset))
            for each in merged([read.offsets for read in reads])
        )
        return [OffsetRange(partition, start, end) for start, end in clipped if start < end]

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

    def never(self, partition: TopicPartition, offsets: Offsets) -> Offsets:
        """Those of some ascending offsets where the log has a marker or an aborted record."""
        if not len(offsets):
            return offsets
        wanted = OffsetRuns.of(offsets).spans
        found = look_up(self.cluster, partition, wanted, compacts=False)
        never = (each for each in found if each.verdict in NEVER_A_RECORD)
        return offsets_of(OffsetRange(partition, each.start, each.end) for each in never)
