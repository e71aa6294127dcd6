"""Consent: what a reset may not do unless whoever asks for it has seen it and said so."""

from __future__ import annotations

import logging

from sluice.errors import RowsErased, as_lines
from sluice.moves import Move, advice
from sluice.offsets.resets import Reset, require_as_previewed, undone_backfills
from sluice.operations.reset.preview import described, erased_by, read_again, undone_by
from sluice.progress.lane_state import LaneState

log = logging.getLogger(__name__)


def confirm(
    lane: LaneState, intended: Reset, as_previewed: str | None, bring_back_erased: bool
) -> None:
    """Raises PreviewOutdated, RowsErased, or TableRefused where a file is gone that has rows of it.

    Says what is left to be done by hand.
    """
    if as_previewed:
        require_as_previewed(as_previewed, intended.preview, described(intended))
    # Where the cursors stay, nothing is read that would not be read anyway.
    if not intended.stays:
        erased_by(lane, intended).require_allowed(lane.pipeline, bring_back_erased)
        # No batch could replace rows of a file that is gone.
        if (again := read_again(lane, intended)).places:
            lane.data.require_files_at(again)
    for line in undone_backfills(lane.pipeline, undone_by(lane, intended)):
        log.warning("%s", line)


def require_none_erased_since(
    lane: LaneState, intended: Reset, decided: Reset, bring_back_erased: bool
) -> None:
    """Raises RowsErased for what others have done since a reset was decided on that goes on now."""
    if intended.stays or bring_back_erased:
        return
    if erased := erased_by(lane, intended, decided.data_version):
        raise RowsErased(
            as_lines(
                [
                    f"{lane.pipeline}: an interrupted reset ({intended.reason}) cannot be finished:"
                    " others have deleted or changed rows since that it would bring back:",
                    *erased.lines,
                    advice(
                        Move("reset", (lane.pipeline, "--shift-by", "0")),
                        " gives it up; or reset again, with --bring-back-erased if they are to come"
                        " back.",
                    ),
                ]
            )
        )
