"""Step 1: make the next batches durable, or adopt those that are not committed yet."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sluice.errors import CommitConflict
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, BatchReference, Lane
from sluice.offsets.losses import Skipped
from sluice.offsets.origin import Origin
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.plan import Plan
from sluice.progress.lane_state import LaneState
from sluice.progress.lanes import read_lane
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.protocol.plan.lags import held_back_partitions
from sluice.protocol.plan.log_identity import require_same_log
from sluice.protocol.plan.next_batches import plan_first, plan_next
from sluice.protocol.plan.start import Answers, start_without_effect

log = logging.getLogger(__name__)

# Decides what comes next in a lane, as it is now.
Decide = Callable[[LaneState], Plan]


def plan(parts: PipelineResources, origin: Origin) -> BatchReference:
    """Decide what the next run works on, and write new ranges down before they are read.

    Raises SettingsError, BrokerUnavailable, DataLost, ResetNeeded, TableRefused or CommitFailed.
    """

    def decide(lane: LaneState) -> Plan:
        return Plan(()) if lane.unfinished else preview_plan(parts, lane)

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
    return until_it_lands(
        lambda: _write(parts, origin, read_lane(parts, lane, to_write=True), decide),
        f"{parts.spec.pipeline}: {{times}} another process changed the plan. Run again when it is"
        " done.",
    )


def _write(
    parts: PipelineResources, origin: Origin, lane: LaneState, decide: Decide
) -> PlannedWork:
    new = decide(lane)
    reach("offsets listed")
    if new:
        try:
            lane.snapshot.append_plan(new, origin)
        except CommitConflict:
            log.info("%s: another process has just planned; reading again", parts.spec.pipeline)
            raise
        reach("plan durable")
    if lane.unfinished:
        log.info("%s: adopted, planned before and not committed yet", _named(lane.unfinished))
    _report(new)
    return PlannedWork(_work(lane, (*lane.unfinished, *new.batches)), new)


def preview_plan(parts: PipelineResources, lane: LaneState) -> Plan:
    """The plan that would be made now; nothing is written."""
    return next_plan(parts, lane, parts.kafka.state(parts.spec))


def next_plan(
    parts: PipelineResources, lane: LaneState, state: KafkaState, skips: Sequence[Skipped] = ()
) -> Plan:
    """The plan that would be made of a state of Kafka; nothing is written."""
    if lane.history:
        new = plan_next(parts.spec, lane.history, state, skips)
        if lane.history.batches:
            require_same_log(parts, lane.data, lane.history.batches[-1], state)
        return new
    starts = parts.spec.start.position.first_offsets(state.logs, Answers(parts))
    return plan_first(parts.spec, lane.history, state, starts)


def _report(new: Plan) -> None:
    for loss in new.losses:
        log.warning("%s; recorded as lost", loss)
    for batch in new.batches:
        for planned in batch.ranges:
            if planned.offsets.span:
                log.info("%s: planned %s", batch, planned.offsets)


def _work(lane: LaneState, batches: Sequence[Batch]) -> BatchReference:
    return BatchReference(lane.sequence, tuple(batch.number for batch in batches))


def _named(batches: Sequence[Batch]) -> str:
    return ", ".join(map(str, batches))
