"""Deletions: the rows that others deleted from the data table, as far as its log still tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sluice.errors import TableRefused
from sluice.offsets.range_columns import OffsetScope
from sluice.progress.erased import Erased, RangeToReread, RowsByPlace, erased_rows, rows_among
from sluice.progress.lane_state import LaneState
from sluice.progress.unaltered import require_no_foreign_commits
from sluice.tables.coordinates import StoredCoordinates
from sluice.tables.foreign_commits import TableCommit, may_have_deleted
from sluice.tables.removed_files import removed_files


def read_erased(lane: LaneState, again: Iterable[RangeToReread]) -> Erased:
    """The erased rows among offsets to be read again.

    A deletion is only looked into where the statistics of its files name some of the offsets.
    Raises TableRefused as `require_no_foreign_commits` does.
    """
    ranges = [each for each in again if each.offsets.span]
    if not ranges or lane.data.version is None:
        return Erased()
    require_no_foreign_commits(lane)
    deletions = {
        commit: _removed(lane, commit)
        for commit in may_have_deleted(lane.pipeline, lane.commits())
        if _may_concern(lane, commit, ranges)
    }
    removed = rows_among(ranges, (rows for rows in deletions.values() if rows is not None))
    return Erased(
        tuple(erased_rows(ranges, removed, _present(lane, removed))),
        tuple(commit for commit, rows in deletions.items() if rows is None),
    )


def _may_concern(lane: LaneState, commit: TableCommit, ranges: Sequence[RangeToReread]) -> bool:
    files = removed_files(lane.data.uri, commit.version)
    return any(file.may_hold(each.topic_id, each.offsets) for file in files for each in ranges)


def _removed(lane: LaneState, commit: TableCommit) -> RowsByPlace | None:
    """The rows that a commit removed; None where its files are gone, or cannot be read."""
    try:
        rows = lane.data.removed(commit.version)
    except TableRefused:
        return None
    return None if rows is None else _by_place(rows)


def _present(lane: LaneState, removed: RowsByPlace) -> RowsByPlace:
    """The rows at removed offsets that are in the table all the same: written again since."""
    if not removed:
        return {}
    return _by_place(lane.data.coordinates_in(OffsetScope.of_offsets(removed)))


def _by_place(rows: StoredCoordinates) -> RowsByPlace:
    return {place: rows.offsets(place) for place in rows.places}
