"""Repetition: whether a reset is the newest one given again; five offsets back must not be ten."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from sluice.offsets.ranges import TopicPartition
from sluice.offsets.resets import Reset
from sluice.operations.reset.standing import HeldPosition, read_standing
from sluice.operations.reset.targets import Target
from sluice.positions.position import Moves, cursor_at, keep_cursor
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.start import PositionAnswers


class Repetition(Enum):
    """From where a target leads to the offsets of the newest reset."""

    FROM_HERE = "from where the cursor is now"
    FROM_THERE = "only from where the cursor was before"


def find_repetition(
    resources: PipelineResources, target: Target, reason: str, newest: Reset
) -> Repetition | None:
    """Whether a target, with the same reason, leads to the offsets of the newest reset.

    A relative target does so from where the cursor was before, any other from anywhere. None if it
    leads elsewhere, or would leave the cursor where it is now.
    """
    if newest.reason != reason:
        return None
    position = read_standing(resources, target.trust).position
    ask = PositionAnswers(resources)
    starts = _starts(position, target.moves(position, ask))
    if starts == newest.starts:
        return Repetition.FROM_HERE
    previous = _position_before(newest)
    if (
        starts != _starts(position, {})
        and _starts(previous, target.moves(previous, ask)) == newest.starts
    ):
        return Repetition.FROM_THERE
    return None


def _starts(where: HeldPosition, moves: Moves) -> Mapping[TopicPartition, int]:
    starts = {**keep_cursor(where.held), **moves}
    return {partition: each.after.offsets.start for partition, each in starts.items()}


def _position_before(found: Reset) -> HeldPosition:
    """The pipeline's position when a reset was decided on."""
    cursor = {
        each.partition: cursor_at(each.after, each.before)
        for each in found.cursor
        if each.before is not None
    }
    return HeldPosition(found.pipeline, cursor, cursor, found.closed_at, found.cluster_id)
