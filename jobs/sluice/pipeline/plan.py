"""Verb one: make the next batches durable, or adopt those that nobody has committed yet."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sluice.broker.kafka_state import KafkaState
from sluice.errors import CommitFailed
from sluice.failpoints import reach
from sluice.pipeline.altered import require_unaltered
from sluice.pipeline.fingerprinting import require_same_log
from sluice.pipeline.parts import Parts
from sluice.pipeline.reset import finish_reset
from sluice.pipeline.starting import Answers, start_without_effect
from sluice.pipeline.waiting import waiting
from sluice.planning.batches import Batch, Lane
from sluice.planning.findings import Skipped
from sluice.planning.history import History
from sluice.planning.plans import Plan, plan_first, plan_next
from sluice.tables.offsets_rows import Origin
from sluice.tables.overtaken import Overtaken
from sluice.work import Work

log = logging.getLogger(__name__)

_ATTEMPTS = 10


# Decides what comes next in a lane: given its history, and what of it is not committed yet.
Decide = Callable[[History, tuple[Batch, ...]], Plan]


def plan(parts: Parts, origin: Origin) -> Work:
    """Decide what the next run works on, and write new ranges down before anybody reads them.

    Raises SettingsError, BrokerUnavailable, DataLost, ResetNeeded, TableRefused or CommitFailed.
    """

    def decide(history: History, unfinished: tuple[Batch, ...]) -> Plan:
        return Plan(()) if unfinished else preview(parts, history)

    work = write_down(parts, origin, "forward", decide).work
    if ineffective := start_without_effect(parts, parts.offsets.snapshot()):
        log.warning("%s: %s", parts.spec.pipeline, ineffective)
    if not work:
        log.info("%s", "; ".join([f"{parts.spec.pipeline}: nothing new", *waiting(parts)]))
    return work


@dataclass(frozen=True)
class Written:
    """What a run works on, and the plan that was added to it."""

    work: Work
    plan: Plan


def write_down(parts: Parts, origin: Origin, lane: Lane, decide: Decide) -> Written:
    """Make what is decided durable; the work begins with what is planned and not committed yet.

    Raises what deciding raises, TableRefused, ResetNeeded or CommitFailed.
    """
    reach("before planning")
    finish_reset(parts, origin)
    for _ in range(_ATTEMPTS):
        snapshot, history, committed = parts.progress(parts.offsets.snapshot_to_write, lane)
        require_unaltered(parts, snapshot, history.sequence)
        unfinished = history.after(committed)
        new = decide(history, unfinished)
        reach("offsets listed")
        if new:
            try:
                snapshot.append_plan(new, origin)
            except Overtaken:
                log.info("%s: somebody else has just planned; reading again", parts.spec.pipeline)
                continue
            reach("plan durable")
        if unfinished:
            log.info("%s: adopted, planned before and not committed yet", _named(unfinished))
        _report(new)
        return Written(_work(history, (*unfinished, *new.batches)), new)
    raise CommitFailed(
        f"{parts.spec.pipeline}: {_ATTEMPTS} times in a row another process changed the plan."
        " Run again when it is done."
    )


def preview(parts: Parts, history: History) -> Plan:
    """The plan that would be made now; nothing is written."""
    return next_plan(parts, history, parts.kafka.state(parts.spec))


def next_plan(
    parts: Parts, history: History, state: KafkaState, skips: Sequence[Skipped] = ()
) -> Plan:
    """The plan that would be made of a state of Kafka; nothing is written."""
    if history:
        new = plan_next(parts.spec, history, state, skips)
        if history.batches:
            require_same_log(parts, history.batches[-1], state)
        return new
    starts = parts.spec.start.resolve(state.logs, Answers(parts.kafka))
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
