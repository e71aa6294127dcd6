"""Backfill plans: offsets below the cursor once more, in a lane of their own.

The cursor does not move, and fresh data keeps arriving: each lane numbers its own batches.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from sluice.offsets.batches import Batch
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.resets import Resets
from sluice.operations.backfill.readable import clip_to_held, plan_reread, require_read_logs
from sluice.operations.backfill.selection import Selection
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.lanes import read_lane
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.log_identity import find_changes
from sluice.protocol.plan.write_plan import PlannedWork, write_plan

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RereadPreview:
    """The lane's unfinished batches, which come first, and the plan that would be added."""

    unfinished: tuple[Batch, ...]
    plan: Plan
    resets: Resets


def plan_backfill(
    resources: PipelineResources, selection: Selection, origin: Origin
) -> PlannedWork:
    """Make durable what is to be reread; the work is falsy if there is nothing.

    Unfinished batches that an earlier backfill planned in this lane are part of the work, and come
    first. Raises what `plan` raises, and what the selection raises.
    """

    written = write_plan(
        resources, origin, "backfill", lambda lane: _decide_plan(resources, selection, lane)
    )
    for each in written.plan.left_out:
        log.warning("%s", each)
    return written


def preview_backfill(resources: PipelineResources, selection: Selection) -> RereadPreview:
    """What would be reread; nothing is written. Raises what `plan_backfill` raises."""
    lane = read_lane(resources, "backfill")
    return RereadPreview(lane.unfinished, _decide_plan(resources, selection, lane), lane.resets)


def _decide_plan(resources: PipelineResources, selection: Selection, lane: LaneState) -> Plan:
    forward = read_unchecked(resources)
    if not forward.history:
        log.warning("%s: nothing to read again: nothing was read yet", resources.spec.pipeline)
        return Plan(())
    state = resources.kafka.state(resources.spec)
    changes = find_changes(resources, forward, state)
    require_read_logs(forward.history, forward.cursor, state, changes)
    found = clip_to_held(selection(resources, state), forward.cursor, state)
    return plan_reread(resources.spec, lane.history, lane.unfinished, found, state)
