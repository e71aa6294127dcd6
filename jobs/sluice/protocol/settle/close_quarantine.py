"""Closing: from the receipt on, nothing can be added to a batch's quarantine, or is left of others.

One commit to the quarantine table for all batches that are due, after their data commits and before
their receipts. Whatever attempt comes later is refused by it. Where a generation is closed, another
one closes the quarantine of all its batches, those that never commit too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime

from sluice.errors import CommitConflict
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.quarantine_tickets import FENCED, closing_number
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.tables.quarantine_table import Attempts, QuarantineSnapshot
from sluice.tables.refusals import UNREADABLE

log = logging.getLogger(__name__)


def close_quarantine(resources: PipelineResources, state: LaneState) -> None:
    """Close the quarantine of the batches that are due next in a lane: those of one sequence.

    At the version that was read: raises CommitConflict if another commit came in between.
    """
    if not state.due or state.quarantine.version is None:
        return
    sequence = state.due[0].sequence
    due = [each for each in state.due if each.sequence == sequence]
    _close(resources, state, due, sequence, closing_number(due[-1].number))


def fence_quarantine(
    resources: PipelineResources, state: LaneState, closed: Mapping[BatchSequence, Sequence[Batch]]
) -> None:
    """Close sequences for good, each with its batches that count and have no receipt yet.

    Their fence in the data table stands. Raises CommitConflict where an attempt came in between.
    """
    for sequence, batches in closed.items():
        if resources.quarantine.exists():
            _close(resources, state, batches, sequence, FENCED)


def _close(
    resources: PipelineResources,
    state: LaneState,
    due: Sequence[Batch],
    sequence: BatchSequence,
    number: int,
) -> None:
    quarantine = state.quarantine
    if quarantine.number(sequence) >= number:
        return
    others = _others(state, due, _attempts(quarantine, due))
    for name, moments in others.items():
        log.info("%s: rows of %d attempts that did not commit it go", name, len(moments))
    reach("quarantine to close")
    quarantine.use(sequence, number, resources.clock.now(), others)
    if resources.quarantine.snapshot().number(sequence) < number:
        raise CommitConflict(f"{quarantine.uri}: its closing was overwritten by another commit")


def _attempts(quarantine: QuarantineSnapshot, due: Sequence[Batch]) -> Attempts:
    """The attempts that have rows; none if they cannot be read: their batches are in doubt."""
    try:
        return quarantine.attempts([str(each) for each in due])
    except UNREADABLE as problem:
        log.warning("%s: rows of other attempts stay: %s", quarantine.uri, problem)
        return {}


def _others(state: LaneState, due: Sequence[Batch], attempts: Attempts) -> Attempts:
    """The attempts that did not commit their batch; those of a commit that names none stay."""
    found: dict[str, list[datetime]] = {}
    for batch in (each for each in due if str(each) in attempts):
        commit = state.data.log.commit_of(batch)
        if commit is None or commit.aside is None:
            continue
        if others := [each for each in attempts[str(batch)] if each != commit.aside.at]:
            found[str(batch)] = others
    return found
