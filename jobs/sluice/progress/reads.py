"""Reads: a partition's committed ranges, and the only builder of evidence from them."""

from __future__ import annotations

from collections.abc import Iterator

from sluice.offsets.batches import PlannedRange
from sluice.offsets.ranges import TopicIdPartition, TopicPartition
from sluice.progress.committed import Committed
from sluice.progress.evidence import CommittedRange, DroppedRecords, Evidence
from sluice.tables.coordinates import StoredCoordinates


def evidence_of(
    committed: Committed, place: TopicIdPartition, quarantine: StoredCoordinates
) -> Evidence:
    """What batches and the quarantine table say about a partition; the caller adds the rest."""
    reads = list(_reads_of(committed, place))
    return Evidence(
        # The ranges name the topic; without reads it is never used.
        partition=reads[0].offsets.partition if reads else TopicPartition("", place.partition),
        reads=reads,
        quarantined=quarantine.rows(place, [each.batch for each in reads]),
        dropped=_drops_of(committed, place),
    )


def _reads_of(committed: Committed, place: TopicIdPartition) -> Iterator[CommittedRange]:
    """A partition's ranges, with their receipts, in the order they landed."""

    def mine(planned: PlannedRange) -> bool:
        return (planned.topic_id, planned.offsets.partition.partition) == place

    for landed in committed.batches:
        sequence = landed.batch.sequence
        lines = [line for line in landed.counted if mine(line.planned)]
        for planned in filter(mine, landed.batch.ranges):
            yield CommittedRange(
                batch=str(landed.batch),
                forward=sequence.lane == "forward",
                generation=sequence.generation,
                offsets=planned.offsets,
                version=landed.version,
                due=landed.settled,
                receipts=lines,
            )


def _drops_of(committed: Committed, place: TopicIdPartition) -> list[DroppedRecords]:
    """A partition's records dropped from quarantine."""
    return [
        DroppedRecords(loss.dropped_from, loss.offsets)
        for loss in committed.losses
        if loss.dropped_from is not None
        and (loss.topic_id, loss.offsets.partition.partition) == place
    ]
