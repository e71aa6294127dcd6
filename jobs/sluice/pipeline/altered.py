"""What others did to the data table since the last receipt: looked at before every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sluice.pipeline.parts import Parts
from sluice.planning.alterations import Landed, require_all_there, undone_by_restore
from sluice.planning.batches import BatchSequence
from sluice.planning.history import History
from sluice.planning.resets import LANES
from sluice.tables.offsets_table import OffsetsSnapshot


def require_unaltered(parts: Parts, snapshot: OffsetsSnapshot, sequence: BatchSequence) -> None:
    """Raises TableRefused or ResetNeeded unless the table holds what was committed to it.

    Every commit is looked at once: receipts carry the version up to which that was done.
    """
    lanes = [replace(sequence, lane=lane) for lane in LANES]
    resets = snapshot.resets(sequence.pipeline)
    opening = resets.by_generation.get(sequence.generation)
    seen = [receipt for lane in lanes for receipt in snapshot.receipts(lane, newest=1)]
    since = max(
        [receipt.data_version for receipt in seen], default=opening.data_version if opening else -1
    )
    commits = parts.data.require_ours(parts.spec.pipeline, since)
    if any(each.restored is not None for each in commits):
        landed = [
            each
            for lane in lanes
            for each in _landed(parts, snapshot, snapshot.history(lane, resets))
        ]
        landed.sort(key=lambda each: each.version)
        undone = undone_by_restore(landed, commits)
        table = parts.tables.data(parts.spec.table)
        require_all_there(table, parts.spec.pipeline, undone, commits)


def _landed(parts: Parts, snapshot: OffsetsSnapshot, history: History) -> Iterator[Landed]:
    # Whatever was planned and committed since the snapshot landed after what is looked at.
    committed = min(parts.committed(history.sequence), history.planned)
    return landed_batches(parts, snapshot, history, committed)


def landed_batches(
    parts: Parts, snapshot: OffsetsSnapshot, history: History, committed: int
) -> Iterator[Landed]:
    """The committed batches of a history with the versions they landed in, in order."""
    for receipt in snapshot.receipts(history.sequence, newest=history.settled):
        yield Landed(receipt.batch, receipt.data_version)
    for number in range(history.settled + 1, committed + 1):
        batch = history.batch(number)
        yield Landed(batch, parts.data.landing(batch).version)
