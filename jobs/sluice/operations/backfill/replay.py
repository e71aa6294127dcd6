"""Replays: quarantined records once more, and nothing but these."""

from __future__ import annotations

from collections.abc import Iterable

from sluice.offsets.partition_log import KafkaState
from sluice.offsets.quarantined import QuarantinedRecord, RecordFilter, RecordState
from sluice.offsets.ranges import OffsetRange, merged, within
from sluice.operations.backfill.readable import RequestedRange
from sluice.operations.backfill.selection import Selection, without_skips
from sluice.operations.backfill.window_ranges import NEARBY_OFFSETS
from sluice.progress.committed import losses_that_count
from sluice.progress.deletions import read_erased
from sluice.progress.erased import RangeToReread
from sluice.progress.filtered_records import without_record_of_ours
from sluice.progress.lane_state import LaneState
from sluice.progress.quarantined_records import Quarantined, read_quarantined
from sluice.progress.resources import PipelineResources


def quarantined_records(choice: RecordFilter) -> Selection:
    """Quarantined records; records between those that lie close together are read as well.

    These stay as they are. So every one of them must have a row: if one has none, because it is
    quarantined too, recorded as lost or deleted by others, the range ends there. A chosen record
    that Kafka no longer holds stays in quarantine. Skipped offsets are left out.
    """

    def select(resources: PipelineResources, state: KafkaState) -> list[RequestedRange]:
        found = read_quarantined(resources)
        chosen = _by_topic_id(row for row in found.of(RecordState.LIVE) if row in choice)
        requested = []
        for topic_id, offsets in sorted(chosen.items()):
            near = merged(offsets, NEARBY_OFFSETS)
            for each in merged(offsets, NEARBY_OFFSETS, _rowless(found, choice, topic_id, near)):
                only = tuple(within(offsets, [each]))
                requested.append(RequestedRange(each, topic_id, only=only))
        return without_skips(resources, requested)

    return select


def _by_topic_id(rows: Iterable[QuarantinedRecord]) -> dict[str, list[OffsetRange]]:
    found: dict[str, list[OffsetRange]] = {}
    for row in rows:
        found.setdefault(row.topic_id, []).append(_alone(row))
    return found


def _alone(row: QuarantinedRecord) -> OffsetRange:
    return OffsetRange(row.partition, row.offset, row.offset + 1)


def _rowless(
    found: Quarantined, choice: RecordFilter, topic_id: str, near: list[OffsetRange]
) -> list[OffsetRange]:
    """Offsets of a topic id whose records have no row in the table, though the log may have them.

    In quarantine and not chosen, dropped, recorded as lost, deleted by others, or left out by
    `only`.
    """
    states = (RecordState.LIVE, RecordState.DROPPED)
    aside = [
        _alone(row)
        for row in found.of(*states)
        if row.topic_id == topic_id and (row not in choice or row.state is RecordState.DROPPED)
    ]
    lost = [e.offsets for e in losses_that_count(found.lane) if e.topic_id == topic_id]
    erased = _erased(found.lane, topic_id, near)
    return [*aside, *lost, *erased, *_filtered(found.lane, topic_id, near)]


def _filtered(lane: LaneState, topic_id: str, near: list[OffsetRange]) -> list[OffsetRange]:
    """Which of them batches left out: they have no row, and get none."""
    places = {each.partition.of(topic_id) for each in near}
    return [
        left_out
        for place in places
        for left_out in without_record_of_ours(
            lane, place, [each for each in near if each.partition.of(topic_id) == place]
        )
    ]


def _erased(lane: LaneState, topic_id: str, near: list[OffsetRange]) -> list[OffsetRange]:
    """Where others have deleted rows; everywhere, where that is no longer known."""
    erased = read_erased(lane, [RangeToReread(each, topic_id) for each in near])
    if erased.unknown:
        return near
    return [OffsetRange(each.partition, each.first, each.last + 1) for each in erased.known]
