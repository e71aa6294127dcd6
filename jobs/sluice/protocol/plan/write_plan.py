"""Step 1: make the next batches durable, or adopt those that are not committed yet."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sluice.errors import CommitConflict
from sluice.failpoints import reach
from sluice.offsets.batches import Batch, BatchReference, Lane
from sluice.offsets.losses import Skipped
from sluice.offsets.origin import Origin
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.plan import Plan
from sluice.offsets.quantities import cursor_text, format_ranges
from sluice.progress.complete_until import speaks_of_all_topics
from sluice.progress.lacking_rows import lost_with
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.lanes import ReadLane, read_lane
from sluice.progress.readers import spec_to_plan
from sluice.progress.resources import PipelineResources
from sluice.progress.retries import until_it_lands
from sluice.protocol.plan.doubts import require_due_decided
from sluice.protocol.plan.foreign_settings import require_replaceable
from sluice.protocol.plan.known_logs import KnownLogs
from sluice.protocol.plan.known_warehouse import require_known_warehouse
from sluice.protocol.plan.lags import held_back_partitions
from sluice.protocol.plan.log_changes import Finding
from sluice.protocol.plan.new_pipeline import require_new
from sluice.protocol.plan.next_batches import plan_first, plan_next
from sluice.protocol.plan.quarantine_beyond import require_none_beyond
from sluice.protocol.plan.start import start_now, start_without_effect
from sluice.protocol.plan.table_fit import require_fitting_table, told_of_table
from sluice.protocol.plan.undone_rows import undone_for_good
from sluice.tables.offsets_appends import append_plan

log = logging.getLogger(__name__)

# Decides what comes next in a lane in its current state.
DecidePlan = Callable[[LaneState], Plan]


def plan(resources: PipelineResources, origin: Origin) -> BatchReference:
    """Decide what the next run works on, and make new ranges durable before they are read.

    Raises SpecError, SettingsError, BrokerUnavailable, DataLost, ResetNeeded, BatchInDoubt,
    TableRefused or CommitFailed.
    """

    seen: list[KafkaState] = []

    def decide(lane: LaneState) -> Plan:
        if lane.unfinished:
            return Plan(())
        seen.append(resources.kafka.state(resources.spec))
        return next_plan(resources, lane, KnownLogs(seen[-1]))

    work = write_plan(resources, origin, "forward", decide).work
    if ineffective := start_without_effect(resources, resources.offsets.snapshot()):
        log.warning("%s: %s", resources.spec.pipeline, ineffective)
    if not work:
        cursor = cursor_text(read_unchecked(resources).positions)
        waiting = held_back_partitions(resources, seen[-1]) or ["all is read"]
        log.info("%s: nothing new: %s; %s", resources.spec.pipeline, cursor, "; ".join(waiting))
    return work


@dataclass(frozen=True)
class PlannedWork:
    """What a run works on, and the plan that this call added to it."""

    work: BatchReference
    plan: Plan


def write_plan(
    resources: PipelineResources,
    origin: Origin,
    lane: Lane,
    decide: DecidePlan,
    read: ReadLane = read_lane,
) -> PlannedWork:
    """Make the decided plan durable; batches planned before and not committed yet come first.

    Raises what `decide` raises, SpecError, TableRefused, ResetNeeded, BatchInDoubt or CommitFailed.
    """
    reach("before planning")
    return until_it_lands(
        resources,
        lambda: _append_decided(resources, origin, read(resources, lane), decide),
        f"{resources.spec.pipeline}: {{times}} another process changed the plan. Run again when it"
        " is done.",
    )


def _append_decided(
    resources: PipelineResources, origin: Origin, lane: LaneState, decide: DecidePlan
) -> PlannedWork:
    require_due_decided(resources, lane)
    spec, notes = spec_to_plan(resources, lane.data.columns)
    require_fitting_table(spec, lane.data)
    for line in (*notes, *told_of_table(spec, lane.data)):
        log.warning("%s: %s", spec.pipeline, line)
    new = decide(lane).for_tables(lane.data.table_id, lane.quarantine.table_id)
    require_replaceable(lane.data, (*lane.unfinished, *new.batches))
    reach("offsets listed")
    if new:
        # Not before: what looks like a new pipeline may be a warehouse that is not mounted.
        exists = lane.snapshot.exists
        snapshot = lane.snapshot if exists else resources.offsets.snapshot_to_write()
        # Another process may have kept a reader that holds more.
        new = replace(new, spec=resources.schemas.keep(spec).edition)
        reach("readers kept")
        try:
            # Its moment is behind the one that Kafka was asked at, which its batches may name.
            append_plan(snapshot, new, replace(origin, at=resources.clock.now()))
        except CommitConflict:
            log.info("%s: another process planned first; deciding again", resources.spec.pipeline)
            raise
        reach("plan durable")
    if lane.unfinished:
        log.info("%s: adopted, planned before and not committed yet", _names_of(lane.unfinished))
    _log_plan(new)
    return PlannedWork(_work_of(lane, (*lane.unfinished, *new.batches)), new)


def next_plan(
    resources: PipelineResources, lane: LaneState, logs: KnownLogs, skips: Sequence[Skipped] = ()
) -> Plan:
    """The plan for what is known of the logs; nothing is written."""
    state = logs.state
    if lane.history:
        changes: list[Finding] = [
            *logs.compare(resources, lane, state),
            *undone_for_good(resources, lane, state),
        ]
        require_none_beyond(resources, lane, state)
        history = lane.history
        if history.complete_until and not speaks_of_all_topics(resources, lane, history.planned):
            history = history.without_moment()
        new = plan_next(resources.spec, history, state, skips, changes, lane.reach)
        # A first generation reads nothing again.
        lost = lost_with(lane, new.losses, "on_data_loss") if lane.generation > 1 else []
        return replace(new, losses=(*new.losses, *lost))
    require_known_warehouse(resources.tables)
    require_new(resources, state)
    # Where `start` leads nowhere, it says why.
    starts = logs.starts or start_now(resources, state)
    return plan_first(resources.spec, lane.history, state, starts)


def _log_plan(new: Plan) -> None:
    for loss in new.losses:
        log.warning("%s; recorded as lost", loss)
    for batch in new.batches:
        log.info("%s: planned %s", batch, format_ranges(each.offsets for each in batch.ranges))


def _work_of(lane: LaneState, batches: Sequence[Batch]) -> BatchReference:
    if not batches:
        return BatchReference(lane.sequence)
    return BatchReference(lane.sequence, range(batches[0].number, batches[-1].number + 1))


def _names_of(batches: Sequence[Batch]) -> str:
    return ", ".join(map(str, batches))
