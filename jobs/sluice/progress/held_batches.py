"""Held batches: which ones the data table holds by its own account, whatever receipts say.

A batch is one commit, so a table at any version holds whole batches, and the last one of each
sequence says it all. Transaction ids name it; where Delta has forgotten them, commits and rows do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from sluice.offsets.batches import BatchSequence
from sluice.offsets.notation import parse_batch
from sluice.offsets.resets import sequences_up_to
from sluice.progress.lane_state import LaneState
from sluice.tables.batch_commits import LoggedBatch
from sluice.tables.stored_rows import StoredRows

Ends = Mapping[BatchSequence, int]


def claimed_ends(state: LaneState) -> Ends:
    """How far resets, receipts and transaction ids say that each sequence was committed."""
    sequences = sequences_up_to(state.pipeline, state.generation)
    return {each: _claimed(state, each) for each in sequences}


def known_ends(pipeline: str, logged: Sequence[LoggedBatch], rows: StoredRows) -> Ends:
    """The highest number of each sequence that commits or rows name."""
    found: dict[BatchSequence, int] = {}
    for name in (*(each.name for each in logged), *rows.counts):
        # What others have written names no batch.
        with suppress(ValueError):
            sequence, number = parse_batch(pipeline, name)
            found[sequence] = max(number, found.get(sequence, 0))
    return found


def whole_ends(pipeline: str, logged: Sequence[LoggedBatch]) -> Ends:
    """The last number before a missing one, for the sequences that miss one.

    A process that was at work while the table was put back lands its batch behind the wrong one.
    """
    last: dict[BatchSequence, int] = {}
    broken: dict[BatchSequence, int] = {}
    for each in sorted(logged, key=lambda each: each.version):
        sequence, number = parse_batch(pipeline, each.name)
        before = last.setdefault(sequence, number - 1)
        if number != before + 1:
            broken.setdefault(sequence, before)
        last[sequence] = number
    return broken


def _claimed(state: LaneState, sequence: BatchSequence) -> int:
    if sequence.generation < state.generation:
        return state.resets.closed_at(sequence)
    return max(state.data.committed(sequence), state.snapshot.settled(sequence))
