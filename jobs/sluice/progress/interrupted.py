"""Interrupted resets: the next run finishes one, unless that brings back what others deleted since.

Nobody has seen these rows in a preview, nor said that they may come back.
"""

from __future__ import annotations

from collections.abc import Iterator

from sluice.errors import ResetNeeded, RowsErased, TableRefused, as_lines
from sluice.moves import Move, advice
from sluice.offsets.range_columns import LAST_OFFSET
from sluice.offsets.ranges import OffsetRange
from sluice.offsets.resets import CursorMove, Reset, Resets
from sluice.progress.deletions import read_erased
from sluice.progress.erased import Erased, RangeToReread
from sluice.progress.lane_state import LaneState

# Why an interrupted reset can no longer be done as decided.
GIVEN_UP = (ResetNeeded, RowsErased, TableRefused)


def interrupted_reset(resets: Resets) -> Iterator[str]:
    """A note about a reset that the next run finishes first."""
    if resets.interrupted:
        yield f"{resets.interrupted.interruption}: the next run finishes it first, or says why not"


def require_finishable(lane: LaneState) -> None:
    """Raises RowsErased where the next run cannot finish a reset that was interrupted."""
    pending = lane.resets.interrupted
    # Once its fence stands it counts, and only has to be written down.
    if pending is not None and pending.generation > lane.generation:
        require_none_erased_since(lane, pending, pending)


def require_none_erased_since(
    lane: LaneState, intended: Reset, decided: Reset, bring_back_erased: bool = False
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


def erased_by(lane: LaneState, intended: Reset, since: int = -1) -> Erased:
    """The rows that others deleted and that the new generation would bring back.

    Those that they deleted above a version of the data table.
    """
    return read_erased(
        lane,
        [RangeToReread(onwards(each), each.after.topic_id) for each in intended.cursor],
        since,
    )


def onwards(moved: CursorMove) -> OffsetRange:
    """All offsets from the new cursor on."""
    return OffsetRange(moved.partition, moved.after.offsets.start, LAST_OFFSET)
