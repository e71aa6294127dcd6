"""Overdue receipts: batches that are in the data table, and that no run has settled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sluice.offsets.batches import Batch
from sluice.offsets.origin import Origin
from sluice.offsets.resets import LANES
from sluice.progress.lane_state import LaneState

# A run may land many batches before it settles them, and so may one after it that goes on with
# what is left of it. Where a third one has planned, the second has ended.
_RUNS_EXPLAINED = 2


@dataclass(frozen=True)
class Overdue:
    """How many batches of a lane have no receipt, and the first one.

    `since` is the last moment at which a run that was at work explained it.
    """

    batch: Batch
    batches: int
    since: datetime


def find_overdue(lane: LaneState) -> Overdue | None:
    """The batches without receipt of either lane, the forward one first; None where there is none.

    No row and no record is read.
    """
    for name in LANES:
        if found := _overdue(lane.in_lane(name)):
            return found
    return None


def without_receipt(lane: LaneState) -> Iterator[str]:
    """What waits for its receipt, if anything, and what tells whether it gets it."""
    if due := lane.due:
        more = f" and {len(due) - 1:,} more" if len(due) > 1 else ""
        yield (
            f"in the table, without receipt: {due[0]}{more}. The next run settles what adds up, and"
            " says why if it cannot, as does the log of `settle`."
        )


def _overdue(lane: LaneState) -> Overdue | None:
    due = lane.due
    planned = {each: by for each in due if (by := _planned(lane, each))}
    if not planned:
        return None
    runs = {each.run_id for each in planned.values()}
    told = due[0] if len(runs) > _RUNS_EXPLAINED else due[-1]
    # The log holds 30 days of commits.
    since = lane.data.log.committed_at(told) or min(each.at for each in planned.values())
    return Overdue(due[0], len(due), since)


def _planned(lane: LaneState, batch: Batch) -> Origin | None:
    found = lane.snapshot.planned_by(batch.sequence, batch.number, batch.number)
    return found.get(batch.number)
