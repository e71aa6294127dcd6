"""Others' deletions: the rows that one of them took from the data table. Judges nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sluice.errors import TableRefused
from sluice.progress.erased import RangeToReread
from sluice.progress.lane_state import LaneState
from sluice.tables.coordinates import StoredCoordinates
from sluice.tables.foreign_commits import TableCommit, may_have_deleted
from sluice.tables.removed_files import removed_files


def removed_by_others(
    lane: LaneState, ranges: Sequence[RangeToReread]
) -> Mapping[int, StoredCoordinates]:
    """The rows that others deleted, by version, of deletions that these offsets may be among."""
    if not ranges:
        return {}
    found = {
        commit.version: removed_rows_of(lane, commit)
        for commit in may_have_deleted(lane.pipeline, lane.commits())
        if may_concern(lane, commit, ranges)
    }
    return {version: rows for version, rows in found.items() if rows is not None}


def may_concern(lane: LaneState, commit: TableCommit, ranges: Sequence[RangeToReread]) -> bool:
    files = removed_files(lane.data.uri, commit.version)
    return any(file.may_hold(each.topic_id, each.offsets) for file in files for each in ranges)


def removed_rows_of(lane: LaneState, commit: TableCommit) -> StoredCoordinates | None:
    """The rows that a commit removed; None where its files are gone, or cannot be read."""
    try:
        return lane.data.removed(commit.version)
    except TableRefused:
        return None
