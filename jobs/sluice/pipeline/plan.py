"""Verb one: make the next batches durable, or adopt those that nobody has committed yet."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from sluice.errors import CommitFailed
from sluice.failpoints import reach
from sluice.pipeline.altered import require_unaltered
from sluice.pipeline.fingerprinting import require_same_log
from sluice.pipeline.parts import Parts
from sluice.pipeline.reset import finish_reset
from sluice.pipeline.waiting import waiting
from sluice.planning.batches import Batch
from sluice.planning.history import History
from sluice.planning.plans import Plan, plan_first, plan_next
from sluice.tables.offsets_rows import Origin
from sluice.tables.overtaken import Overtaken
from sluice.work import Work

log = logging.getLogger(__name__)

_ATTEMPTS = 10


def plan(parts: Parts, origin: Origin) -> Work:
    """Decide what the next run works on, and write new ranges down before anybody reads them.

    Raises SettingsError, BrokerUnavailable, DataLost, ResetNeeded, TableRefused or CommitFailed.
    """
    reach("before planning")
    finish_reset(parts, origin)
    for _ in range(_ATTEMPTS):
        snapshot, history, committed = parts.progress(parts.offsets.snapshot_to_write)
        require_unaltered(parts, snapshot, history, committed)
        unfinished = history.after(committed)
        if unfinished:
            log.info("%s: adopted, planned before and not committed yet", _named(unfinished))
            return _work(history, unfinished)
        new = preview(parts, history)
        reach("offsets listed")
        if not new:
            log.info("%s", "; ".join([f"{parts.spec.pipeline}: nothing new", *waiting(parts)]))
            return Work(history.sequence)
        try:
            snapshot.append_plan(new, origin)
        except Overtaken:
            log.info("%s: somebody else has just planned; reading again", parts.spec.pipeline)
            continue
        reach("plan durable")
        _report(new)
        return _work(history, new.batches)
    raise CommitFailed(
        f"{parts.spec.pipeline}: {_ATTEMPTS} times in a row another process changed the plan."
        " Run again when it is done."
    )


def preview(parts: Parts, history: History) -> Plan:
    """The plan that would be made now; nothing is written."""
    state = parts.kafka.state(parts.spec)
    if history:
        new = plan_next(parts.spec, history, state)
        if history.batches:
            require_same_log(parts, history.batches[-1], state)
        return new
    starts = parts.spec.start.resolve(state.logs, parts.kafka)
    return plan_first(parts.spec, history, state, starts)


def _report(new: Plan) -> None:
    for loss in new.losses:
        log.warning("%s; recorded as lost", loss)
    for batch in new.batches:
        for planned in batch.ranges:
            if planned.offsets.span:
                log.info("%s: planned %s", batch, planned.offsets)


def _work(history: History, batches: Sequence[Batch]) -> Work:
    return Work(history.sequence, tuple(batch.number for batch in batches))


def _named(batches: Sequence[Batch]) -> str:
    return ", ".join(map(str, batches))
