"""Backfill plans: offsets below the cursor once more, in a lane of their own.

The cursor does not move, and fresh data keeps arriving: each lane numbers its own batches.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from sluice.offsets.batches import Batch
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.ranges import within
from sluice.offsets.resets import Resets
from sluice.operations.backfill.readable import clip_to_held, plan_reread, require_read_logs
from sluice.operations.backfill.selection import Selection
from sluice.progress.deletions import read_erased
from sluice.progress.erased import Erased, RangeToReread
from sluice.progress.interrupted import require_finishable
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.lanes import read_lane
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.doubts import require_due_decided
from sluice.protocol.plan.foreign_settings import require_replaceable
from sluice.protocol.plan.log_identity import find_changes
from sluice.protocol.plan.table_fit import require_fitting_table
from sluice.protocol.plan.write_plan import PlannedWork, write_plan

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RereadPreview:
    """The lane's unfinished batches, which come first, and the plan that would be added.

    `erased` are the rows that the plan would bring back although others deleted them.
    """

    unfinished: tuple[Batch, ...]
    plan: Plan
    erased: Erased
    resets: Resets


def plan_backfill(
    resources: PipelineResources,
    selection: Selection,
    origin: Origin,
    bring_back_erased: bool = False,
) -> PlannedWork:
    """Make durable what is to be reread; the work is falsy if there is nothing.

    Unfinished batches that an earlier backfill planned in this lane are part of the work, and come
    first. Raises what `plan` raises, what the selection raises, and RowsErased where rows that
    others deleted would come back and are not to.
    """

    def decide(lane: LaneState) -> Plan:
        found = _decide_plan(resources, selection, lane)
        _erased_by(lane, found).require_allowed(lane.pipeline, bring_back_erased)
        return found

    written = write_plan(resources, origin, "backfill", decide)
    for each in written.plan.told:
        log.warning("%s", each)
    return written


def preview_backfill(resources: PipelineResources, selection: Selection) -> RereadPreview:
    """What would be reread; nothing is written. Raises what `plan_backfill` raises."""
    lane = read_lane(resources, "backfill")
    require_due_decided(resources, lane, record=False)
    require_finishable(lane)
    require_fitting_table(resources.kept_spec, lane.data)
    found = _decide_plan(resources, selection, lane)
    require_replaceable(lane.data, (*lane.unfinished, *found.batches))
    return RereadPreview(lane.unfinished, found, _erased_by(lane, found), lane.resets)


def _erased_by(lane: LaneState, plan: Plan) -> Erased:
    """The rows that others deleted and that the plan's batches would bring back."""
    return read_erased(
        lane,
        [
            RangeToReread(offsets, planned.topic_id)
            for batch in plan.batches
            for planned in batch.ranges
            for offsets in within(batch.only or [planned.offsets], [planned.offsets])
        ],
    )


def _decide_plan(resources: PipelineResources, selection: Selection, lane: LaneState) -> Plan:
    forward = read_unchecked(resources)
    if not forward.history:
        log.warning("%s: nothing to read again: nothing was read yet", resources.spec.pipeline)
        return Plan(())
    require_due_decided(resources, forward, record=False)
    state = resources.kafka.state(resources.spec)
    changes = find_changes(resources, forward, state)
    require_read_logs(forward.history, forward.cursor, state, changes)
    asked = selection(resources, state)
    found = clip_to_held(asked, forward.cursor, state, resources.spec.selects)
    return plan_reread(resources.spec, lane.history, lane.unfinished, found, state)
