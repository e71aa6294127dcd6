"""Recorded batches: which of them stand in the data table by its own log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sluice.offsets.batches import Batch, BatchSequence
from sluice.progress.committed import first_batches
from sluice.progress.held_batches import Ends
from sluice.progress.lane_state import LaneState
from sluice.progress.sequence_end import SequenceEnd
from sluice.tables.foreign_commits import (
    UNKNOWN,
    Restores,
    TableCommit,
    changes_no_rows,
    in_effect,
    restores_of,
)


@dataclass(frozen=True)
class RecordedBatch:
    """A planned batch: whether it counts by what is recorded, and whether the table has it.

    It `stands` if the table's log names it, and no RESTORE since has undone that commit. `version`
    is where it landed, else -1; `settled` says whether it has a receipt.
    """

    batch: Batch
    counts: bool
    stands: bool
    version: int
    settled: bool

    @property
    def forward(self) -> bool:
        """Whether it is of the forward lane."""
        return self.batch.sequence.lane == "forward"


def recorded_batches(state: LaneState, claimed: Ends) -> list[RecordedBatch]:
    """Every planned batch that may have come or gone, in the order of generations and versions.

    `claimed` is how far each sequence counts. In a trusted table those that landed below everything
    that a RESTORE went back to are left out.
    """
    commits = state.data.log.commits()
    restores = restores_of(commits)
    log = _TableLog(_landed(commits), restores, state.data.version or 0, _last_lost(state, commits))
    above = min((to for _, to in restores), default=-1) if state.trusted else -1
    planned = [SequenceEnd(e, state.snapshot.planned(e), closed=False) for e in claimed]
    first = first_batches(state, planned, above)
    found = [
        each
        for end in planned
        for each in _of_sequence(state, log, end, first[end.sequence], claimed[end.sequence])
    ]
    return sorted(found, key=lambda each: (each.batch.sequence.generation, each.version))


@dataclass(frozen=True)
class _TableLog:
    """What the data table's log says: where batches landed, and what is in effect now.

    `lost` is the newest version that it does not hold any more, -1 where it holds all.
    """

    landed: Mapping[tuple[str, int], int]
    restores: Restores
    newest: int
    lost: int

    def named(self, batch: Batch) -> int | None:
        """Where it says that a batch landed."""
        return self.landed.get((batch.sequence.app_id, batch.number))

    def in_effect(self, version: int, counts: bool) -> bool:
        """Whether no RESTORE has undone what landed in a version."""
        # What one to an unknown version has undone was judged once: what counts was left.
        restores = [each for each in self.restores if not counts or each[1] != UNKNOWN]
        return in_effect(version, max(version, self.newest), restores)


def _of_sequence(
    state: LaneState, log: _TableLog, end: SequenceEnd, first: int, claimed: int
) -> Iterator[RecordedBatch]:
    counted = state.snapshot.columns.ranges("committed", {end.sequence: (first, end.last)})
    receipts = {number: int(counted.version[at]) for (_, number), at in counted.batches()}
    batches = state.snapshot.batches(end.sequence, first, last=end.last)
    unnamed = [e.number for e in batches if e.number <= claimed and log.named(e) is None]
    elsewhere = _landed_elsewhere(state, end.sequence, unnamed)
    brought = _brought_in(state) if elsewhere else 0
    for each in batches:
        counts, receipt = each.number <= claimed, receipts.get(each.number)
        version = log.named(each)
        if version is None and counts:
            version = brought if each.number in elsewhere else _unnamed(state, log, receipt)
        # A RESTORE undoes nothing in an empty batch.
        stands = version is not None and (not each.span or log.in_effect(version, counts))
        at = -1 if version is None else version
        yield RecordedBatch(each, counts, stands, at, receipt is not None)


def _unnamed(state: LaneState, log: _TableLog, receipt: int | None) -> int | None:
    """Where a batch landed that counts, and that the log does not name: in a version it has lost.

    The latest that it can be. None where it cannot be in a table that was put back.
    """
    version = log.lost if receipt is None else receipt
    return version if state.trusted or 0 <= version <= log.lost else None


def _landed_elsewhere(
    state: LaneState, sequence: BatchSequence, unnamed: Sequence[int]
) -> frozenset[int]:
    """Those whose rows came with the table: it is a copy, which a recovery goes on with."""
    if not unnamed:
        return frozenset()
    receipts = state.snapshot.receipts_of(sequence, min(unnamed), max(unnamed))
    ours = state.data.table_id
    return frozenset(e.batch.number for e in receipts if e.batch.data_table_id not in (None, ours))


def _brought_in(state: LaneState) -> int:
    """The first version in which a copy had the rows that came with it, and a recovery saw."""
    resets = state.resets.by_generation.values()
    ours = [e.data_version for e in resets if e.data_table_id == state.data.table_id]
    found = min(ours, default=0) if state.trusted else 0
    commits = {each.version: each for each in state.data.log.commits()}
    while found in commits and changes_no_rows(commits[found]):
        found -= 1
    return found


def _landed(commits: Sequence[TableCommit]) -> Mapping[tuple[str, int], int]:
    return {
        named: each.version
        for each in commits
        for named in zip(each.writers, each.numbers, strict=True)
    }


def _last_lost(state: LaneState, commits: Sequence[TableCommit]) -> int:
    return commits[0].version - 1 if commits else state.data.version or 0


def standing_ends(claimed: Ends, batches: Sequence[RecordedBatch]) -> Ends:
    """The last batch of each sequence that stands, with all before it."""
    ends = dict(claimed)
    for each in sorted(batches, key=lambda each: each.batch.number):
        sequence, number = each.batch.sequence, each.batch.number
        if each.stands and number == ends[sequence] + 1:
            ends[sequence] = number
        if not each.stands and number <= ends[sequence]:
            ends[sequence] = number - 1
    return ends
