"""Backfilling: plan offsets below the cursor once more, in a lane of their own.

The cursor does not move, and fresh data goes on arriving: each lane has its own numbers.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from sluice.pipeline.altered import require_unaltered
from sluice.pipeline.fingerprinting import require_same_log
from sluice.pipeline.parts import Parts
from sluice.pipeline.plan import Written, write_down
from sluice.pipeline.wanted import Asked
from sluice.planning.backfills import plan_again, readable_again, require_read_logs
from sluice.planning.batches import Batch
from sluice.planning.history import History
from sluice.planning.plans import Plan
from sluice.tables.offsets_rows import Origin

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadAgain:
    """Batches of the lane that come first, and those that would be added."""

    unfinished: tuple[Batch, ...]
    plan: Plan


def plan_backfill(parts: Parts, asked: Asked, origin: Origin) -> Written:
    """Write down what is to be read again; falsy work where that is nothing.

    Batches that somebody has planned in this lane and not finished are part of the work: they go
    first. Raises as `plan` does, and what the asked raises.
    """

    def decide(lane: History, unfinished: tuple[Batch, ...]) -> Plan:
        return _decide(parts, asked, lane, unfinished)

    written = write_down(parts, origin, "backfill", decide)
    for each in written.plan.left_out:
        log.warning("%s", each)
    return written


def preview_backfill(parts: Parts, asked: Asked) -> ReadAgain:
    """What would be read again; nothing is written. Raises as `plan_backfill`."""
    snapshot, lane, committed = parts.progress(parts.offsets.snapshot, "backfill")
    require_unaltered(parts, snapshot, lane.sequence)
    unfinished = lane.after(committed)
    return ReadAgain(unfinished, _decide(parts, asked, lane, unfinished))


def _decide(parts: Parts, asked: Asked, lane: History, unfinished: tuple[Batch, ...]) -> Plan:
    _, forward, committed = parts.progress(parts.offsets.snapshot)
    if not forward:
        log.warning("%s: nothing was read yet that could be read again", parts.spec.pipeline)
        return Plan(())
    cursor, state = forward.cursor_at(committed), parts.kafka.state(parts.spec)
    require_read_logs(forward, cursor, state)
    if committed:
        require_same_log(parts, forward.batch(committed), state)
    found = readable_again(asked(parts, state), cursor, state)
    return plan_again(parts.spec, lane, unfinished, found, state)
