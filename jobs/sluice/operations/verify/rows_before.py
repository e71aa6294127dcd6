"""Rows from before a recovery, of batches without a plan: each once, and below the cursor.

Which records the rows should be is no longer known. The recovery has recorded where they end, but
not for a topic that was gone by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sluice.offsets.range_columns import LAST_OFFSET, OffsetScope
from sluice.offsets.ranges import TopicIdPartition, TopicPartition
from sluice.offsets.row_offsets import Offsets
from sluice.operations.verify.checks import Violation
from sluice.operations.verify.slices import slices
from sluice.progress.committed import sequence_ends, unlisted
from sluice.progress.lane_state import LaneState
from sluice.progress.sequence_end import SequenceEnd
from sluice.tables.coordinates import StoredCoordinates


def check_rows_before(
    lane: LaneState, rows: Mapping[TopicIdPartition, int], at_once: int
) -> Iterator[Violation]:
    """The violations among such rows; `rows` counts those of each partition."""
    if all(_is_listed(lane, each) for each in sequence_ends(lane) if each.last):
        return
    ends = _ends(lane)
    for places in slices(rows, at_once):
        stored = lane.data.coordinates_in(OffsetScope.whole(places))
        listed = stored.without(unlisted(lane, stored.names))
        for place in places:
            gone = TopicPartition(place.topic_id, place.partition), LAST_OFFSET
            yield from _of(place, *ends.get(place, gone), stored, listed)


def _is_listed(lane: LaneState, end: SequenceEnd) -> bool:
    """Whether the first and the last batch of a sequence have plans.

    A log that was cleaned lacks the first ones, an offsets table that was put back the last ones.
    """
    read = lane.snapshot.batches
    return bool(read(end.sequence, last=1) and read(end.sequence, end.last, last=end.last))


def _ends(lane: LaneState) -> Mapping[TopicIdPartition, tuple[TopicPartition, int]]:
    """The highest offset that a cursor stood at, before or after a reset."""
    found: dict[TopicIdPartition, tuple[TopicPartition, int]] = {}
    for reset in lane.resets.by_generation.values():
        for moved in reset.cursor:
            place = moved.after.place
            end = max(moved.before or 0, moved.after.offsets.start, found.get(place, (None, 0))[1])
            found[place] = moved.partition, end
    return found


def _of(
    place: TopicIdPartition,
    partition: TopicPartition,
    end: int,
    stored: StoredCoordinates,
    listed: StoredCoordinates,
) -> Iterator[Violation]:
    every, known = stored.offsets(place), listed.offsets(place)
    if len(every) == len(known):
        return
    again = _twice(every)
    if len(again) > len(_twice(known)):
        found = f"{len(again)} offsets repeated, from {again[0]} on"
        yield Violation("unique", partition, "one row for an offset", found)
    beyond = np.setdiff1d(every[every >= end], known)
    if len(beyond):
        expected = f"rows of batches from before a recovery below {end}"
        yield Violation("no phantom", partition, expected, f"{len(beyond)} others: {beyond[0]} …")


def _twice(offsets: Offsets) -> Offsets:
    found, counts = np.unique(offsets, return_counts=True)
    return found[counts > 1]
