"""Run summaries, read: what a run's tasks say of the tables and of Kafka; nothing is written.

The step itself is done: what cannot be read is unknown, and a warning.
"""

from __future__ import annotations

import logging

from sluice.offsets.batches import BatchReference
from sluice.offsets.run_summary import (
    Summary,
    lag_left,
    plan_summary,
    settle_summary,
    unread_plan_summary,
)
from sluice.progress.lane_state import read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.table_fit import told_of_table
from sluice.protocol.settle.write_receipts import Settlement
from sluice.telling import deciding_nothing

log = logging.getLogger(__name__)

# A batch may have 10,000 partitions.
_MOST_READ = 20


def summarize_plan(resources: PipelineResources, work: BatchReference) -> Summary:
    """What the run is to read, by the plans in the offsets table."""
    with deciding_nothing(log, "%s: the plan's ranges are unknown", resources.spec.pipeline):
        read = work.first(_MOST_READ).batches
        lane = read_unchecked(resources, work.sequence.lane)
        batches = lane.snapshot.batches(work.sequence, read[0], last=read[-1]) if read else ()
        told = told_of_table(resources.kept_spec, lane.data)
        return plan_summary(work, batches, lane.positions, told)
    return unread_plan_summary(work)


def summarize_settlement(resources: PipelineResources, settled: Settlement) -> Summary:
    """What was settled, and the lag that is left; unknown where Kafka does not say it."""
    lag = None
    with deciding_nothing(log, "%s: the lag is unknown", resources.spec.pipeline):
        logs = resources.kafka.state(resources.spec).logs
        lag = lag_left(read_unchecked(resources).positions, logs)
    return settle_summary(settled.receipts, lag)
