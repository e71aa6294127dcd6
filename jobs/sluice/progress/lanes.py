"""Lanes: the current state of each lane, once the data table is known to be unaltered.

The steps of the protocol begin here: foreign commits are reported before anything else is done.
"""

from __future__ import annotations

from collections.abc import Callable

from sluice.offsets.batches import Lane
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table

# How the state of a lane is read: with which trust.
ReadLane = Callable[..., LaneState]


def read_lane(resources: PipelineResources, lane: Lane = "forward") -> LaneState:
    """The current state of a lane. Raises TableRefused or ResetNeeded for an altered table."""
    state = read_unchecked(resources, lane)
    check_data_table(state)
    return state
