"""What was judged: others' commits that an earlier process has found to be fine.

Receipts and resets say so of the data table, closed batches of the quarantine table. Where others
commit and the pipeline is idle, `settle` marks how far it has judged, so that each process reads
few commits.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from sluice.errors import CommitConflict, SluiceError
from sluice.tables.delta_log import DeltaLog
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.judged_marks import Mark, mark_ids
from sluice.tables.offsets_appends import append_marks

if TYPE_CHECKING:
    from sluice.progress.lane_state import LaneState
    from sluice.progress.resources import PipelineResources

log = logging.getLogger(__name__)

# So many commits are read in a moment, and an idle run of most pipelines writes nothing.
_MANY = 100


def marked(state: LaneState, table: DeltaSnapshot) -> int:
    """The version up to which the mark says that a table was judged; -1 where there is none.

    It is believed while that very commit is there, and no receipt or reset has come since.
    """
    if table.table_id is None:
        return -1
    version, digest = map(state.snapshot.newest, mark_ids(state.pipeline, table.table_id))
    if not version or version > (table.version or 0):
        return -1
    return version if table.log.digest(version, _known(state)) == digest else -1


def mark_judged(resources: PipelineResources, state: LaneState) -> None:
    """Mark the tables as judged where many commits were; a failure is only a warning.

    Only for tables that were just found to be unaltered.
    """
    # The receipt of what is due will say so.
    if state.due or not state.snapshot.exists:
        return
    marks = []
    if (state.data.version or 0) - state.checked > _MANY:
        marks += _mark(resources.data, state.data, state)
    quarantine = state.quarantine
    if len(quarantine.since_judged(state.pipeline, marked(state, quarantine))) > _MANY:
        marks += _mark(resources.quarantine, quarantine, state)
    if not marks:
        return
    try:
        append_marks(state.snapshot, marks)
    except CommitConflict:
        log.info("%s: not marked as judged: others have changed the offsets", state.pipeline)
    except SluiceError as problem:
        log.warning("not marked as judged, so that the next run reads it again: %s", problem)


def _mark(table: DeltaLog, judged: DeltaSnapshot, state: LaneState) -> list[Mark]:
    """The mark of a table at its judged version; none where it may be another table by now."""
    if judged.table_id is None or judged.version is None:
        return []
    digest = judged.log.digest(judged.version, _known(state))
    if digest is None or not table.continues(judged):
        return []
    log.info("%s: judged up to version %d", judged.uri, judged.version)
    return [Mark(judged.table_id, judged.version, digest)]


def _known(state: LaneState) -> str:
    """What the tables were judged by: the newest receipts, and the resets that closed sequences."""
    settled = [f"{each.sequence}: {each.settled}" for each in state.known.lanes]
    receipts = [f"{each.batch} in {each.data_version}" for each in state.receipts]
    return repr((state.known.version, settled, receipts, list(map(str, state.known.closed))))
