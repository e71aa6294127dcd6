"""The check that the data table is unaltered: what others did to it since the last receipt."""

from __future__ import annotations

from sluice.progress.committed import landed_batches
from sluice.progress.lane_state import LaneState
from sluice.tables.foreign_commits import TableCommit, require_all_there, undone_by_restore


def check_data_table(state: LaneState) -> None:
    """Raises TableRefused or ResetNeeded unless the table holds what was committed to it."""
    commits = require_no_foreign_commits(state)
    restored = [each.restored for each in commits if each.restored is not None]
    if restored:
        undone = undone_by_restore(landed_batches(state, above=min(restored)), commits)
        require_all_there(state.data.uri, state.pipeline, undone, commits)


def require_no_foreign_commits(state: LaneState) -> list[TableCommit]:
    """The commits since the last check. Raises TableRefused for those that stop the line.

    Every commit is checked once.
    """
    return state.data.require_no_foreign_commits(state.pipeline, state.checked)
