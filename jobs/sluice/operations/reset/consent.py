"""Consent: what a reset may not do unless whoever asks for it has seen it and said so."""

from __future__ import annotations

import logging

from sluice.offsets.resets import Reset, require_as_previewed, undone_backfills
from sluice.operations.reset.preview import undone_by
from sluice.progress.interrupted import erased_by
from sluice.progress.lane_state import LaneState

log = logging.getLogger(__name__)


def confirm(
    lane: LaneState, intended: Reset, as_previewed: str | None, bring_back_erased: bool
) -> None:
    """Raises PreviewOutdated or RowsErased; says what is left to be done by hand."""
    if as_previewed:
        require_as_previewed(as_previewed, intended.preview, described(intended))
    # Where the cursors stay, nothing is read that would not be read anyway.
    if not intended.stays:
        erased_by(lane, intended).require_allowed(lane.pipeline, bring_back_erased)
    for line in undone_backfills(lane.pipeline, undone_by(lane, intended)):
        log.warning("%s", line)


def described(intended: Reset) -> str:
    """Where it goes on, one line for each partition that moves."""
    moves = [f"  {e.partition}: {e.before} → {e.after.offsets.start}" for e in intended.cursor]
    last = intended.closes[0].batch(intended.closed_at["forward"])
    return "\n".join([f"  generation {intended.generation}, after {last}", *moves])
