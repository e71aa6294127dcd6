"""What others did to the data table since the last receipt: looked at before every step."""

from __future__ import annotations

from dataclasses import replace

from sluice.offsets.batches import BatchSequence
from sluice.offsets.resets import LANES
from sluice.progress.committed import landed_batches
from sluice.progress.resources import PipelineResources
from sluice.tables.foreign_commits import require_all_there, undone_by_restore
from sluice.tables.offsets_table import OffsetsSnapshot


def check_data_table(
    parts: PipelineResources, snapshot: OffsetsSnapshot, sequence: BatchSequence
) -> None:
    """Raises TableRefused or ResetNeeded unless the table holds what was committed to it.

    Every commit is looked at once: receipts carry the version up to which that was done.
    """
    lanes = [replace(sequence, lane=lane) for lane in LANES]
    opening = snapshot.resets(sequence.pipeline).by_generation.get(sequence.generation)
    seen = [receipt for lane in lanes for receipt in snapshot.receipts(lane, newest=1)]
    since = max(
        [receipt.data_version for receipt in seen], default=opening.data_version if opening else -1
    )
    commits = parts.data.require_no_foreign_commits(parts.spec.pipeline, since)
    if any(each.restored is not None for each in commits):
        committed = parts.committed_by_lane(sequence)
        landed = landed_batches(parts, snapshot, sequence, committed)
        table = parts.tables.data(parts.spec.table)
        undone = undone_by_restore(landed, commits)
        require_all_there(table, parts.spec.pipeline, undone, commits)
