"""Consent: what a reset may do only if the operator has seen it and agreed."""

from __future__ import annotations

import logging

from sluice.offsets.resets import Reset, require_as_previewed, undone_backfills
from sluice.operations.reset.preview import described, scope_read_again, undone_by
from sluice.operations.reset.standing import Standing
from sluice.progress.interrupted import erased_by

log = logging.getLogger(__name__)


def confirm(
    standing: Standing, intended: Reset, as_previewed: str | None, bring_back_erased: bool
) -> None:
    """Raises PreviewOutdated, RowsErased, or TableRefused where a file is gone that has rows of it.

    Says what is left to be done by hand.
    """
    lane = standing.forward
    if as_previewed:
        require_as_previewed(as_previewed, intended.preview, described(intended))
    # Where the cursors stay, nothing is read that would not be read anyway.
    if not intended.stays:
        erased_by(lane, intended).require_allowed(lane.pipeline, bring_back_erased)
        # No batch could replace rows of a file that is gone.
        if (again := scope_read_again(standing, intended)).places:
            lane.data.require_files_at(again)
    for line in undone_backfills(lane.pipeline, undone_by(standing, intended)):
        log.warning("%s", line)
