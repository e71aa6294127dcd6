"""Moves to another topic: which recorded resets went on in another topic of the name, or a cluster.

A reset's rows do not say so. Its numbers of offsets count in the new topic only: the cursors of two
topics cannot be compared.
"""

from __future__ import annotations

from dataclasses import replace

from sluice.offsets.batches import Cursor
from sluice.offsets.resets import Reset
from sluice.progress.lane_state import LaneState


def as_moved(lane: LaneState, reset: Reset) -> Reset:
    """The recorded reset, with those of its moves marked that lead to another topic."""
    before = _cursor_before(lane, reset)
    moves = []
    for each in reset.cursor:
        last = before.get(each.partition)
        moves.append(replace(each, anew=last is not None and last.topic_id != each.after.topic_id))
    return replace(reset, cursor=tuple(moves))


def reads_again(lane: LaneState) -> bool:
    """Whether the cursor is below one from which a reset has gone back, in the same topic."""
    opening = lane.history.opening
    if opening is None or not _below(lane, opening):
        return False
    return _below(lane, as_moved(lane, opening))


def _below(lane: LaneState, opening: Reset) -> bool:
    at = lane.positions
    return any(
        not each.anew
        and each.before is not None
        and at.get(each.partition, each.before) < each.before
        for each in opening.cursor
    )


def _cursor_before(lane: LaneState, reset: Reset) -> Cursor:
    """The cursor of the generation that it closed; empty where its last plan is lost."""
    closed, last = reset.closes[0], reset.closed_at["forward"]
    if last:
        found = lane.snapshot.batches(closed, last, last=last)
        return found[0].by_partition if found else {}
    opening = lane.resets.by_generation.get(closed.generation)
    return opening.by_partition if opening else {}
