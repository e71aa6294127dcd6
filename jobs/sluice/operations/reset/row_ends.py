"""Row ends: up to where a table's rows go, partition by partition, by the batches in it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sluice.offsets.batches import BatchSequence, Cursor, PlannedRange
from sluice.offsets.ranges import OffsetRange, TopicPartition, without
from sluice.positions.position import cursor_at
from sluice.progress.recorded_batches import RecordedBatch

Place = tuple[str, TopicPartition]
"""A partition by its topic id."""


def row_ends(
    cursor: Cursor, batches: Sequence[RecordedBatch], ends: Mapping[BatchSequence, int]
) -> Cursor:
    """Where all rows below are there: at the cursor, or below it, where some have gone.

    Above it where batches have landed that no reset has counted. `ends` are the last batches that
    are going to count.
    """
    again = read_again(batches, ends)
    further = [
        planned
        for each in batches
        if each.stands and each.forward and not each.counts
        for planned in each.batch.ranges
    ]
    return {
        partition: _end(planned, again.get((planned.topic_id, partition), ()), further)
        for partition, planned in cursor.items()
    }


def read_again(
    batches: Sequence[RecordedBatch], ends: Mapping[BatchSequence, int]
) -> Mapping[Place, Sequence[OffsetRange]]:
    """What must be read again: rows that have gone, and rows that two batches may have added.

    Also rows that count no more, as a batch before theirs has gone: theirs was in flight meanwhile.
    What a backfill has lost moves no cursor.
    """
    gone = _by_place(each for each in batches if each.counts and each.forward and not each.stands)
    standing = [each for each in batches if each.stands]
    for each in standing:
        for place, offsets in _ranges_of(each):
            if place in gone:
                gone[place] = without(gone[place], [offsets])
    for each in standing:
        if each.counts and each.forward and each.batch.number > ends[each.batch.sequence]:
            for place, offsets in _ranges_of(each):
                gone.setdefault(place, []).append(offsets)
        if not each.counts and each.batch.mode == "append":
            for place, offsets in _ranges_of(each):
                gone.setdefault(place, []).extend(_twice(each, place, offsets, standing))
    return gone


def _twice(
    new: RecordedBatch, place: Place, offsets: OffsetRange, standing: Iterable[RecordedBatch]
) -> Iterator[OffsetRange]:
    """What of a range another batch has added as well, and none has replaced since."""
    others = (each for each in standing if each is not new and not _replaces(each, new))
    for other in others:
        for at, theirs in _ranges_of(other):
            start, end = max(offsets.start, theirs.start), min(offsets.end, theirs.end)
            if at == place and start < end:
                yield OffsetRange(offsets.partition, start, end)


def _replaces(later: RecordedBatch, earlier: RecordedBatch) -> bool:
    return later.batch.mode == "replace" and later.version > earlier.version


def _end(
    planned: PlannedRange, again: Sequence[OffsetRange], further: Sequence[PlannedRange]
) -> PlannedRange:
    at = planned.offsets.end
    below = [each.start for each in again if each.start < at]
    if below:
        return cursor_at(planned, min(below))
    mine = [each.offsets for each in further if _place_of(each) == _place_of(planned)]
    for each in sorted(mine):
        if each.start <= at:
            at = max(at, each.end)
    return cursor_at(planned, min([at, *(each.start for each in again)]))


def _by_place(batches: Iterable[RecordedBatch]) -> dict[Place, list[OffsetRange]]:
    found: dict[Place, list[OffsetRange]] = {}
    for each in batches:
        for place, offsets in _ranges_of(each):
            found.setdefault(place, []).append(offsets)
    return found


def _ranges_of(each: RecordedBatch) -> Iterator[tuple[Place, OffsetRange]]:
    for planned in each.batch.ranges:
        if planned.offsets.span:
            yield _place_of(planned), planned.offsets


def _place_of(planned: PlannedRange) -> Place:
    return planned.topic_id, planned.offsets.partition
