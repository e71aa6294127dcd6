"""What others did to the data table since the last receipt: looked at before every step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sluice.pipeline.parts import Parts
from sluice.planning.alterations import Landed, require_all_there, undone_by_restore
from sluice.planning.batches import BatchSequence, Lane
from sluice.planning.history import History
from sluice.planning.resets import LANES
from sluice.tables.offsets_table import OffsetsSnapshot


def require_unaltered(parts: Parts, snapshot: OffsetsSnapshot, sequence: BatchSequence) -> None:
    """Raises TableRefused or ResetNeeded unless the table holds what was committed to it.

    Every commit is looked at once: receipts carry the version up to which that was done.
    """
    lanes = [replace(sequence, lane=lane) for lane in LANES]
    opening = snapshot.resets(sequence.pipeline).by_generation.get(sequence.generation)
    seen = [receipt for lane in lanes for receipt in snapshot.receipts(lane, newest=1)]
    since = max(
        [receipt.data_version for receipt in seen], default=opening.data_version if opening else -1
    )
    commits = parts.data.require_ours(parts.spec.pipeline, since)
    if any(each.restored is not None for each in commits):
        committed = parts.committed_by_lane(sequence)
        landed = all_landed(parts, snapshot, sequence, committed)
        table = parts.tables.data(parts.spec.table)
        undone = undone_by_restore(landed, commits)
        require_all_there(table, parts.spec.pipeline, undone, commits)


def all_landed(
    parts: Parts,
    snapshot: OffsetsSnapshot,
    newest: BatchSequence,
    committed: Mapping[Lane, int],
) -> list[Landed]:
    """The batches of every lane and generation that count, in the order they landed in.

    A RESTORE reaches behind a reset. `committed` is of the newest generation, by lane.
    """
    resets = snapshot.resets(parts.spec.pipeline)
    found: list[Landed] = []
    for lane in LANES:
        for generation in range(1, newest.generation):
            sequence = replace(newest, lane=lane, generation=generation)
            last, closed = resets.closed_at(sequence), snapshot.history(sequence, resets)
            landed = _landed(parts, snapshot, closed, min(last, closed.settled))
            found += [each for each in landed if each.batch.number <= last]
        now = snapshot.history(replace(newest, lane=lane), resets)
        # Whatever was planned and committed since the snapshot landed after what is looked at.
        found += _landed(parts, snapshot, now, min(committed[lane], now.planned))
    return sorted(found, key=lambda each: each.version)


def _landed(
    parts: Parts, snapshot: OffsetsSnapshot, history: History, committed: int
) -> Iterator[Landed]:
    for receipt in snapshot.receipts(history.sequence, newest=history.settled):
        yield Landed(receipt.batch, receipt.data_version)
    for number in range(history.settled + 1, committed + 1):
        batch = history.batch(number)
        yield Landed(batch, parts.data.landing(batch).version)
