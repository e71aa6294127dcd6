"""Reads: a partition's committed ranges, and the only builder of evidence from them."""

from __future__ import annotations

from collections.abc import Iterable

from sluice.offsets.losses import Loss
from sluice.offsets.ranges import TopicIdPartition, TopicPartition
from sluice.progress.committed_ranges import CommittedRanges
from sluice.progress.evidence import DroppedRecords, Evidence
from sluice.tables.coordinates import StoredCoordinates


def evidence_of(
    committed: CommittedRanges,
    losses: Iterable[Loss],
    place: TopicIdPartition,
    quarantine: StoredCoordinates,
) -> Evidence:
    """What batches and the quarantine table say about a partition; the caller adds the rest."""
    reads = committed.at(place)
    return Evidence(
        # The ranges name the topic; without reads it is never used.
        partition=reads[0].offsets.partition if reads else TopicPartition("", place.partition),
        reads=reads,
        quarantined=quarantine.rows(place, [each.batch for each in reads]),
        dropped=[
            DroppedRecords(loss.dropped_from, loss.offsets)
            for loss in losses
            if loss.dropped_from is not None
            and (loss.topic_id, loss.offsets.partition.partition) == place
        ],
    )
