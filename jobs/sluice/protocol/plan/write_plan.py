"""Verb one: make the next batches durable, or adopt those that nobody has committed yet."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sluice.errors import CommitConflict, CommitFailed
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, BatchReference, Lane
from sluice.offsets.history import History
from sluice.offsets.losses import Skipped
from sluice.offsets.origin import Origin
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.plan import Plan
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table
from sluice.protocol.plan.lags import held_back_partitions
from sluice.protocol.plan.log_identity import require_same_log
from sluice.protocol.plan.next_batches import plan_first, plan_next
from sluice.protocol.plan.start import Answers, start_without_effect

log = logging.getLogger(__name__)

_ATTEMPTS = 10
# Decides what comes next in a lane: given its history, and what of it is not committed yet.
Decide = Callable[[History, tuple[Batch, ...]], Plan]


def plan(parts: PipelineResources, origin: Origin) -> BatchReference:
    """Decide what the next run works on, and write new ranges down before anybody reads them.

    Raises SettingsError, BrokerUnavailable, DataLost, ResetNeeded, TableRefused or CommitFailed.
    """

    def decide(history: History, unfinished: tuple[Batch, ...]) -> Plan:
        return Plan(()) if unfinished else preview_plan(parts, history)

    work = write_plan(parts, origin, "forward", decide).work
    if ineffective := start_without_effect(parts, parts.offsets.snapshot()):
        log.warning("%s: %s", parts.spec.pipeline, ineffective)
    if not work:
        log.info(
            "%s", "; ".join([f"{parts.spec.pipeline}: nothing new", *held_back_partitions(parts)])
        )
    return work


@dataclass(frozen=True)
class PlannedWork:
    """What a run works on, and the plan that was added to it."""

    work: BatchReference
    plan: Plan


def write_plan(parts: PipelineResources, origin: Origin, lane: Lane, decide: Decide) -> PlannedWork:
    """Make what is decided durable; the work begins with what is planned and not committed yet.

    Raises what deciding raises, TableRefused, ResetNeeded or CommitFailed.
    """
    reach("before planning")
    for _ in range(_ATTEMPTS):
        snapshot, history, committed = parts.progress(parts.offsets.snapshot_to_write, lane)
        check_data_table(parts, snapshot, history.sequence)
        unfinished = history.after(committed)
        new = decide(history, unfinished)
        reach("offsets listed")
        if new:
            try:
                snapshot.append_plan(new, origin)
            except CommitConflict:
                log.info("%s: somebody else has just planned; reading again", parts.spec.pipeline)
                continue
            reach("plan durable")
        if unfinished:
            log.info("%s: adopted, planned before and not committed yet", _named(unfinished))
        _report(new)
        return PlannedWork(_work(history, (*unfinished, *new.batches)), new)
    raise CommitFailed(
        f"{parts.spec.pipeline}: {_ATTEMPTS} times in a row another process changed the plan."
        " Run again when it is done."
    )


def preview_plan(parts: PipelineResources, history: History) -> Plan:
    """The plan that would be made now; nothing is written."""
    return next_plan(parts, history, parts.kafka.state(parts.spec))


def next_plan(
    parts: PipelineResources, history: History, state: KafkaState, skips: Sequence[Skipped] = ()
) -> Plan:
    """The plan that would be made of a state of Kafka; nothing is written."""
    if history:
        new = plan_next(parts.spec, history, state, skips)
        if history.batches:
            require_same_log(parts, history.batches[-1], state)
        return new
    starts = parts.spec.start.position.first_offsets(state.logs, Answers(parts))
    return plan_first(parts.spec, history, state, starts)


def _report(new: Plan) -> None:
    for loss in new.losses:
        log.warning("%s; recorded as lost", loss)
    for batch in new.batches:
        for planned in batch.ranges:
            if planned.offsets.span:
                log.info("%s: planned %s", batch, planned.offsets)


def _work(history: History, batches: Sequence[Batch]) -> BatchReference:
    return BatchReference(history.sequence, tuple(batch.number for batch in batches))


def _named(batches: Sequence[Batch]) -> str:
    return ", ".join(map(str, batches))
