"""Held batches: which ones the data table holds by its own account, whatever receipts say.

A batch is one commit, so a table at any version holds whole batches, and the last one of each
sequence says it all. Transaction ids name it; where Delta has forgotten them, commits and rows do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from sluice.offsets.batches import BatchSequence
from sluice.offsets.notation import parse_batch
from sluice.offsets.resets import LANES
from sluice.progress.lane_state import LaneState
from sluice.progress.sequence_end import SequenceEnd
from sluice.tables.batch_commits import LoggedBatch
from sluice.tables.fence import FENCE
from sluice.tables.foreign_commits import in_effect, restores_of
from sluice.tables.stored_rows import StoredRows

Ends = Mapping[BatchSequence, int]


def claimed_ends(state: LaneState) -> list[SequenceEnd]:
    """How far resets, receipts and transaction ids say that each sequence was committed."""
    return [
        SequenceEnd(sequence, _claimed(state, sequence), sequence.generation < state.generation)
        for sequence in _sequences(state)
    ]


def held_ends(state: LaneState) -> Ends:
    """How far the table holds each sequence; of an open one no further than its receipts.

    A batch beyond them is read again: nothing writes a receipt for a table that is not trusted.
    """
    if state.trusted:
        return {each.sequence: each.last for each in claimed_ends(state)}
    logged = logged_in_effect(state)
    known = known_ends(state.pipeline, logged, state.data.stored_rows())
    whole = whole_ends(state.pipeline, logged)
    return {
        each: min(_held(state, each, known), whole.get(each, FENCE)) for each in _sequences(state)
    }


def logged_in_effect(state: LaneState) -> list[LoggedBatch]:
    """The batches whose commits the log still holds, and no RESTORE has undone; newest first."""
    restores, newest = restores_of(state.data.commits()), state.data.version or 0
    found = state.data.logged_batches()
    return [each for each in found if in_effect(each.version, newest, restores)]


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


def _sequences(state: LaneState) -> list[BatchSequence]:
    return [
        BatchSequence(state.pipeline, lane, generation)
        for generation in range(1, state.generation + 1)
        for lane in LANES
    ]


def _claimed(state: LaneState, sequence: BatchSequence) -> int:
    if sequence.generation < state.generation:
        return state.resets.closed_at(sequence)
    return max(state.data.committed(sequence), state.snapshot.settled(sequence))


def _held(state: LaneState, sequence: BatchSequence, known: Ends) -> int:
    recorded, committed = _recorded(state, sequence), state.data.committed(sequence)
    if committed == FENCE:
        return recorded
    return min(recorded, max(committed, known.get(sequence, 0)))


def _recorded(state: LaneState, sequence: BatchSequence) -> int:
    if sequence.generation < state.generation:
        return state.resets.closed_at(sequence)
    return state.snapshot.settled(sequence)
