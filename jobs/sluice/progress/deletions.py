"""Deletions: rows that others deleted or changed, as far as the data table's log still tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, TopicIdPartition, TopicPartition
from sluice.offsets.resets import sequences_up_to
from sluice.offsets.row_offsets import NO_ROWS, Offsets, Rows
from sluice.progress.erased import (
    Erased,
    RangeToReread,
    RowsByPlace,
    changed_rows_among,
    erased_rows,
    rows_among,
)
from sluice.progress.lane_state import LaneState
from sluice.progress.others_deletions import may_concern, removed_rows_of
from sluice.progress.unaltered import require_no_foreign_commits
from sluice.tables.changed_rows import changed_rows
from sluice.tables.coordinates import COORDINATES, KEYS, StoredCoordinates, group_coordinates
from sluice.tables.foreign_commits import TableCommit, in_effect, may_have_deleted, restores_of


def read_erased(lane: LaneState, again: Iterable[RangeToReread], since: int = -1) -> Erased:
    """What others did to rows among offsets to be read again, above a version of the data table.

    A commit is only looked into where the statistics of its files name some of the offsets.
    Raises TableRefused as `require_no_foreign_commits` does.
    """
    if lane.data.version is not None:
        require_no_foreign_commits(lane)
    return erased_among(lane, again, since)


def erased_among(lane: LaneState, again: Iterable[RangeToReread], since: int = -1) -> Erased:
    """The same for any writer of the table."""
    ranges = [each for each in again if each.offsets.span]
    if not ranges or lane.data.version is None:
        return Erased()
    commits = lane.commits()
    concerned = [
        commit
        for commit in _since(may_have_deleted(lane.pipeline, commits), commits, since)
        if may_concern(lane, commit, ranges)
    ]
    removals = {commit: _removed(lane, commit) for commit in concerned}
    changes = {commit: _changed(lane, commit, ranges) for commit in concerned}
    removed = rows_among(ranges, (rows for rows in removals.values() if rows is not None))
    return Erased(
        tuple(erased_rows(ranges, removed, _by_place(_present(lane, removed)))),
        tuple(each for each in concerned if removals[each] is None or changes[each] is None),
        tuple(changed_rows_among(ranges, _still_changed(lane, ranges, changes))),
    )


def _since(
    found: Iterable[TableCommit], commits: Sequence[TableCommit], version: int
) -> list[TableCommit]:
    """Those that had no effect at a version: later ones, and what a RESTORE has brought back."""
    restores = restores_of(commits)
    return [each for each in found if not in_effect(each.version, version, restores)]


def _removed(lane: LaneState, commit: TableCommit) -> RowsByPlace | None:
    rows = removed_rows_of(lane, commit)
    return None if rows is None else _by_place(rows)


def _changed(
    lane: LaneState, commit: TableCommit, ranges: Sequence[RangeToReread]
) -> StoredCoordinates | None:
    """The rows that a commit gave other values; None where that is no longer known."""
    first = min(each.offsets.start for each in ranges)
    last = max(each.offsets.end for each in ranges)
    wanted = [("_offset", ">=", first), ("_offset", "<", last)]
    rows = changed_rows(lane.data.uri, commit.version, COORDINATES.names, KEYS, wanted)
    return None if rows is None else group_coordinates(rows)


def _still_changed(
    lane: LaneState,
    ranges: Sequence[RangeToReread],
    changes: Mapping[TableCommit, StoredCoordinates | None],
) -> RowsByPlace:
    """Those of the changed rows that no later batch has read again: they name the same one.

    Or one that took over their values, as a replay does with the neighbours of its records.
    """
    known = [each for each in changes.values() if each is not None]
    among = rows_among(ranges, map(_by_place, known))
    now, only = _present(lane, among), _only(lane)
    found = {}
    for place, partition in {each.place: each.offsets.partition for each in ranges}.items():
        still = [_unmoved(each, now, place) for each in known]
        taken_over = _taken_over(now.rows(place, sorted(only)), place, partition, only)
        still_there = np.concatenate([taken_over, *still])
        found[place] = np.intersect1d(among.get(place, NO_ROWS.offsets), still_there)
    return found


def _unmoved(
    changed: StoredCoordinates, now: StoredCoordinates, place: TopicIdPartition
) -> Offsets:
    """The offsets of a partition that have the same batch in both."""
    names = sorted({*changed.names, *now.names})
    was, is_now = changed.rows(place, names), now.rows(place, names)
    _, mine, theirs = np.intersect1d(was.offsets, is_now.offsets, return_indices=True)
    found: Offsets = was.offsets[mine][was.reads[mine] == is_now.reads[theirs]]
    return found


def _only(lane: LaneState) -> Mapping[str, Sequence[OffsetRange]]:
    """The offsets that batches may change, of those that may not change all."""
    sequences = sequences_up_to(lane.pipeline, lane.generation, ["backfill"])
    found = lane.snapshot.columns.only(sequences)
    return {sequence.batch(number): only for (sequence, number), only in found.items()}


def _taken_over(
    rows: Rows,
    place: TopicIdPartition,
    partition: TopicPartition,
    only: Mapping[str, Sequence[OffsetRange]],
) -> Offsets:
    """The offsets of a partition whose rows one of these batches took over, values and all."""
    found = [NO_ROWS.offsets]
    for number, name in enumerate(sorted(only)):
        mine = rows.offsets[rows.reads == number]
        runs = [each for each in only[name] if each.partition == partition]
        found.append(mine[~OffsetScope.of_ranges({place: runs}).contains(place, mine)])
    return np.concatenate(found)


def _present(lane: LaneState, removed: RowsByPlace) -> StoredCoordinates:
    """The rows that are in the table at these offsets now."""
    if not removed:
        return StoredCoordinates((), {})
    return lane.data.coordinates_in(OffsetScope.of_offsets(removed))


def _by_place(rows: StoredCoordinates) -> RowsByPlace:
    return {place: rows.offsets(place) for place in rows.places}
