"""Backfilling: plan offsets below the cursor once more, in a lane of their own.

The cursor does not move, and fresh data goes on arriving: each lane has its own numbers.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from sluice.offsets.batches import Batch
from sluice.offsets.history import History
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.operations.backfill.readable import clip_to_held, plan_reread, require_read_logs
from sluice.operations.backfill.selection import Selection
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table
from sluice.protocol.plan.log_identity import require_same_log
from sluice.protocol.plan.write_plan import PlannedWork, write_plan

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadAgain:
    """Batches of the lane that come first, and those that would be added."""

    unfinished: tuple[Batch, ...]
    plan: Plan


def plan_backfill(parts: PipelineResources, asked: Selection, origin: Origin) -> PlannedWork:
    """Write down what is to be read again; falsy work where that is nothing.

    Batches that somebody has planned in this lane and not finished are part of the work: they go
    first. Raises as `plan` does, and what the asked raises.
    """

    def decide(lane: History, unfinished: tuple[Batch, ...]) -> Plan:
        return _decide(parts, asked, lane, unfinished)

    written = write_plan(parts, origin, "backfill", decide)
    for each in written.plan.left_out:
        log.warning("%s", each)
    return written


def preview_backfill(parts: PipelineResources, asked: Selection) -> ReadAgain:
    """What would be read again; nothing is written. Raises as `plan_backfill`."""
    snapshot, lane, committed = parts.progress(parts.offsets.snapshot, "backfill")
    check_data_table(parts, snapshot, lane.sequence)
    unfinished = lane.after(committed)
    return ReadAgain(unfinished, _decide(parts, asked, lane, unfinished))


def _decide(
    parts: PipelineResources, asked: Selection, lane: History, unfinished: tuple[Batch, ...]
) -> Plan:
    _, forward, committed = parts.progress(parts.offsets.snapshot)
    if not forward:
        log.warning("%s: nothing was read yet that could be read again", parts.spec.pipeline)
        return Plan(())
    cursor, state = forward.cursor_at(committed), parts.kafka.state(parts.spec)
    require_read_logs(forward, cursor, state)
    if committed:
        require_same_log(parts, forward.batch(committed), state)
    found = clip_to_held(asked(parts, state), cursor, state)
    return plan_reread(parts.spec, lane, unfinished, found, state)
