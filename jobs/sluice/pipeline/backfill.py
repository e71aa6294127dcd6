"""Backfilling: plan offsets below the cursor once more, in a lane of their own.

The cursor does not move, and fresh data goes on arriving: each lane has its own numbers.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from sluice.pipeline.fingerprinting import require_same_log
from sluice.pipeline.parts import Parts
from sluice.pipeline.plan import write_down
from sluice.pipeline.wanted import Asked
from sluice.planning.backfills import (
    LeftOut,
    plan_again,
    readable_again,
    require_read_logs,
)
from sluice.planning.batches import Batch
from sluice.planning.history import History
from sluice.planning.plans import Plan
from sluice.tables.offsets_rows import Origin
from sluice.work import Work

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Backfill:
    """The batches to land, and what of the wanted offsets is in none of them."""

    work: Work
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True)
class Preview:
    """Batches of the lane that come first, those that would be added, and what is left out."""

    unfinished: tuple[Batch, ...]
    plan: Plan
    left_out: tuple[LeftOut, ...]


def plan_backfill(parts: Parts, asked: Asked, origin: Origin) -> Backfill:
    """Write down what is to be read again; falsy work where that is nothing.

    Batches that somebody has planned in this lane and not finished are part of the work: they go
    first. Raises as `plan` does, and what the asked raises.
    """
    left_out: tuple[LeftOut, ...] = ()

    def decide(lane: History, unfinished: tuple[Batch, ...]) -> Plan:
        nonlocal left_out
        found = _preview(parts, asked, lane, unfinished)
        left_out = found.left_out
        return found.plan

    work = write_down(parts, origin, "backfill", decide)
    for each in left_out:
        log.warning("%s", each)
    return Backfill(work, left_out)


def preview_backfill(parts: Parts, asked: Asked) -> Preview:
    """What would be read again; nothing is written. Raises as `plan_backfill`."""
    _, lane, committed = parts.progress(parts.offsets.snapshot, "backfill")
    return _preview(parts, asked, lane, lane.after(committed))


def _preview(parts: Parts, asked: Asked, lane: History, unfinished: tuple[Batch, ...]) -> Preview:
    _, forward, committed = parts.progress(parts.offsets.snapshot)
    if not forward:
        log.warning("%s: nothing was read yet that could be read again", parts.spec.pipeline)
        return Preview(unfinished, Plan(()), ())
    cursor, state = forward.cursor_at(committed), parts.kafka.state(parts.spec)
    require_read_logs(cursor, forward.cluster_id, state)
    if committed:
        require_same_log(parts, forward.batch(committed), state)
    found = readable_again(asked(parts, state), cursor, state)
    plan = plan_again(parts.spec, lane, unfinished, found.ranges, state)
    return Preview(unfinished, plan, found.left_out)
