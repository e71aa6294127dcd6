"""Held position: where a pipeline is before a reset, by its commits and by its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from sluice.errors import SettingsError
from sluice.offsets.batches import BatchSequence, Cursor, Lane, PlannedRange
from sluice.offsets.history import LaneHistory
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.resets import LANES
from sluice.positions.position import cursor_at
from sluice.progress.committed import landed_batches
from sluice.progress.lane_state import LaneState
from sluice.tables.foreign_commits import LandedBatch, undone_by_restore


@dataclass(frozen=True)
class HeldPosition:
    """A pipeline before a reset; every range is empty, at the offset in question.

    `cursor` is where the next batch would start; `held` is where the table's rows end; `last` is,
    by lane, the number of the generation's last batch whose rows are there. Only after a RESTORE do
    `held` and `last` differ from what was committed.
    """

    cursor: Cursor
    held: Cursor
    last: Mapping[Lane, int]
    cluster_id: str


def held_position(lane: LaneState) -> HeldPosition:
    """Where a pipeline is, by each lane's last committed batch and the data table's Delta log.

    Raises SettingsError before its first plan, TableRefused if the table is no longer Sluice's.
    """
    committed = lane.committed_by_lane
    cursor = _cursor(lane.history, committed["forward"])
    if not cursor:
        raise SettingsError(
            f"{lane.pipeline}: nothing was planned yet, so there is nothing to reset."
            " Change `start` in the spec."
        )
    cluster = lane.history.cluster_id
    commits = lane.data.require_no_foreign_commits(lane.pipeline)
    restored = [each.restored for each in commits if each.restored is not None]
    if not restored:
        return HeldPosition(cursor, cursor, committed, cluster)
    landed = landed_batches(lane, min(restored))
    undone = {each.version for each in undone_by_restore(landed, commits)}
    if not undone:
        return HeldPosition(cursor, cursor, committed, cluster)
    held = list(takewhile(lambda each: each.version not in undone, landed))
    last = {each: _last_batch(held, replace(lane.sequence, lane=each)) for each in LANES}
    ends = {**cursor, **_row_ends(_forward_batches(landed), _forward_batches(held))}
    return HeldPosition(cursor, ends, last, cluster)


def _last_batch(held: Sequence[LandedBatch], sequence: BatchSequence) -> int:
    mine = [each.batch.number for each in held if each.batch.sequence == sequence]
    return max(mine, default=0)


def _forward_batches(landed: Sequence[LandedBatch]) -> list[LandedBatch]:
    return [each for each in landed if each.batch.sequence.lane == "forward"]


def _cursor(history: LaneHistory, committed: int) -> Cursor:
    if committed or history.opening:
        return _at_ends(history.cursor_at(committed))
    return _at_starts(history.batches[0].by_partition) if history.batches else {}


def _at_starts(ranges: Cursor) -> Cursor:
    return {at: cursor_at(planned, planned.offsets.start) for at, planned in ranges.items()}


def _at_ends(ranges: Cursor) -> Cursor:
    return {at: cursor_at(planned, planned.offsets.end) for at, planned in ranges.items()}


def _row_ends(landed: Sequence[LandedBatch], held: Sequence[LandedBatch]) -> Cursor:
    """Where the held rows end; a partition added later is where its first range started."""
    cursor: dict[TopicPartition, PlannedRange] = {}
    for each in reversed(landed):
        cursor |= _at_starts(each.batch.by_partition)
    for each in held[-1:]:
        cursor |= _at_ends(each.batch.by_partition)
    return cursor
