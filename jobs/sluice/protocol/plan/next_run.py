"""The next run: what it works on, or what refuses it. Reads only.

Every refusal stands here once, in the order in which a run meets them.
"""

from __future__ import annotations

from sluice.errors import SluiceError
from sluice.offsets.plan import Plan
from sluice.progress.interrupted import require_finishable
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table
from sluice.progress.undecodable import too_many_undecodable
from sluice.protocol.plan.doubts import require_due_decided
from sluice.protocol.plan.foreign_settings import require_replaceable
from sluice.protocol.plan.known_logs import KnownLogs
from sluice.protocol.plan.log_changes import readable_ranges
from sluice.protocol.plan.table_fit import require_fitting_table
from sluice.protocol.plan.write_plan import next_plan
from sluice.spec_file.pipeline_spec import PipelineSpec


def next_refusal(
    resources: PipelineResources, lane: LaneState, logs: KnownLogs | None
) -> SluiceError | None:
    """What refuses the next run, or what the last attempt ended with; None where nothing does.

    Where no `logs` are known, only the tables are asked. Raises what may be tried again: that
    refuses nothing.
    """
    try:
        check_data_table(lane)
        next_work(resources, lane, resources.kept_spec, logs)
        return too_many_undecodable(resources, lane)
    except SluiceError as problem:
        if problem.retryable:
            raise
        return problem


def next_work(
    resources: PipelineResources, lane: LaneState, spec: PipelineSpec, logs: KnownLogs | None
) -> Plan:
    """What the next run adds to what is unfinished. Raises what would refuse that run.

    `lane` is of tables that are unaltered; `spec` has the readers that records are read with.
    """
    if logs:
        require_due_decided(resources, lane, logs.state, record=False)
    require_finishable(lane)
    require_fitting_table(spec, lane.data)
    require_replaceable(lane.data, lane.unfinished)
    new = _planned_next(resources, lane, logs) if logs else Plan(())
    require_replaceable(lane.data, new.batches)
    return new


def _planned_next(resources: PipelineResources, lane: LaneState, logs: KnownLogs) -> Plan:
    """The plan that is made next: none beside unfinished batches, which have to be readable."""
    if not lane.unfinished:
        return next_plan(resources, lane, logs)
    changes = logs.compare(resources, lane, logs.state)
    for batch in lane.unfinished:
        readable_ranges(batch, logs.state, resources.spec.data_loss, changes)
    return Plan(())
