"""What others did to the data table since the last receipt: looked at before every step."""

from __future__ import annotations

from collections.abc import Iterator

from sluice.pipeline.parts import Parts
from sluice.planning.alterations import Landed, require_all_there, undone_by_restore
from sluice.planning.history import History
from sluice.tables.offsets_table import OffsetsSnapshot


def require_unaltered(
    parts: Parts, snapshot: OffsetsSnapshot, history: History, committed: int
) -> None:
    """Raises TableRefused or ResetNeeded unless the table holds what was committed to it.

    Every commit is looked at once: receipts carry the version up to which that was done.
    """
    last = snapshot.receipts(history.sequence, newest=1)
    since = max(
        [receipt.data_version for receipt in last],
        default=history.opening.data_version if history.opening else -1,
    )
    commits = parts.data.require_ours(parts.spec.pipeline, since)
    if any(each.restored is not None for each in commits):
        landed = landed_batches(parts, snapshot, history, committed)
        undone = undone_by_restore(landed, commits)
        table = parts.tables.data(parts.spec.table)
        require_all_there(table, parts.spec.pipeline, undone, commits)


def landed_batches(
    parts: Parts, snapshot: OffsetsSnapshot, history: History, committed: int
) -> Iterator[Landed]:
    """The committed batches of a history with the versions they landed in, in order."""
    for receipt in snapshot.receipts(history.sequence, newest=history.settled):
        yield Landed(receipt.batch, receipt.data_version)
    for number in range(history.settled + 1, committed + 1):
        batch = history.batch(number)
        yield Landed(batch, parts.data.landing(batch).version)
