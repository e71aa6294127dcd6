"""Lanes: each lane as it is now, on a data table that is the one it was.

The steps of the protocol begin here: what others did to the table is told before anything is done.
"""

from __future__ import annotations

from sluice.offsets.batches import Batch, Lane
from sluice.offsets.resets import LANES
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table


def read_lane(
    resources: PipelineResources, lane: Lane = "forward", *, to_write: bool = False
) -> LaneState:
    """A lane as it is now. Raises TableRefused or ResetNeeded for a table that was altered."""
    state = read_unchecked(resources, lane, to_write=to_write)
    check_data_table(state)
    return state


def unfinished_batches(resources: PipelineResources) -> tuple[Batch, ...]:
    """What both lanes have planned and not committed yet."""
    return tuple(batch for lane in LANES for batch in read_unchecked(resources, lane).unfinished)
