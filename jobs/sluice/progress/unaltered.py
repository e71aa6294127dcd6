"""The check that the data table is unaltered: what others did to it since the last receipt."""

from __future__ import annotations

from sluice.progress.committed import landed_batches
from sluice.progress.lane_state import LaneState
from sluice.tables.foreign_commits import require_all_there, undone_by_restore


def check_data_table(state: LaneState) -> None:
    """Raises TableRefused or ResetNeeded unless the table holds what was committed to it.

    Every commit is checked once: receipts record the version up to which this was done.
    """
    since = max(
        [each.data_version for each in state.receipts],
        default=state.history.opening.data_version if state.history.opening else -1,
    )
    commits = state.data.require_no_foreign_commits(state.pipeline, since)
    restored = [each.restored for each in commits if each.restored is not None]
    if restored:
        undone = undone_by_restore(landed_batches(state, min(restored)), commits)
        require_all_there(state.data.uri, state.pipeline, undone, commits)
