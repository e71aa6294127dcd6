"""Reads: a partition's committed ranges, and the only builder of evidence from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sluice.offsets.loss_causes import BY_PERSON, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition
from sluice.progress.committed_ranges import CommittedRanges
from sluice.progress.erased import RangeToReread
from sluice.progress.evidence import Evidence, RecordsOfBatch
from sluice.progress.lane_state import LaneState
from sluice.progress.others_deletions import removed_by_others
from sluice.tables.coordinates import StoredCoordinates


def evidence_of(
    committed: CommittedRanges,
    losses: Iterable[Loss],
    place: TopicIdPartition,
    quarantine: StoredCoordinates,
) -> Evidence:
    """What batches and the quarantine table say about a partition; the caller adds the rest."""
    reads = committed.at(place)
    at_place = [each for each in losses if each.place == place]
    mine = [each for each in at_place if each.dropped_from is not None]
    lost = [each for each in at_place if each.dropped_from is None]
    return Evidence(
        # The ranges name the topic; without reads it is never used.
        partition=reads[0].offsets.partition if reads else TopicPartition("", place.partition),
        reads=reads,
        quarantined=quarantine.rows(place, [each.batch for each in reads]),
        dropped=[_of(each) for each in mine if each.cause.kind is not LossKind.LEFT_BEHIND],
        lost=[each.offsets for each in lost],
        given_up=[each.offsets for each in lost if each.cause.kind in BY_PERSON],
        accepted=[each.offsets for each in lost if each.cause.kind in {*BY_PERSON, LossKind.GONE}],
        left_behind=[_of(each) for each in mine if each.cause.kind is LossKind.LEFT_BEHIND],
    )


def with_data(
    lane: LaneState, place: TopicIdPartition, evidence: Evidence, asked: Sequence[OffsetRange]
) -> Evidence:
    """With what the data table says of these offsets."""
    rows = lane.data.coordinates_in(OffsetScope.of_ranges({place: asked}))
    removed = removed_by_others(lane, [RangeToReread(e, place.topic_id) for e in asked])
    deleted = {at: each.rows(place, evidence.batches) for at, each in removed.items()}
    return replace(evidence, data=rows.rows(place, evidence.batches), deleted=deleted)


def _of(loss: Loss) -> RecordsOfBatch:
    return RecordsOfBatch(loss.dropped_from or "", loss.offsets)
