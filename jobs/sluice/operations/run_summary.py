"""Run summaries, read: what a run's tasks say of the tables and of Kafka; nothing is written."""

from __future__ import annotations

import logging

from sluice.errors import SluiceError
from sluice.offsets.batches import BatchReference
from sluice.offsets.run_summary import Summary, lag_left, plan_summary, settle_summary
from sluice.progress.lane_state import read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.protocol.settle.write_receipts import Settlement

log = logging.getLogger(__name__)

# A batch may have 10,000 partitions.
_MOST_READ = 20


def summarize_plan(resources: PipelineResources, work: BatchReference) -> Summary:
    """What the run is to read, by the plans in the offsets table."""
    read = work.first(_MOST_READ).batches
    lane = read_unchecked(resources, work.sequence.lane)
    batches = lane.snapshot.batches(work.sequence, read[0], last=read[-1]) if read else ()
    return plan_summary(work, batches, lane.positions)


def summarize_settlement(resources: PipelineResources, settled: Settlement) -> Summary:
    """What was settled, and the lag that is left; unknown where Kafka does not say it."""
    lag = None
    try:
        logs = resources.kafka.state(resources.spec).logs
        lag = lag_left(read_unchecked(resources).positions, logs)
    except SluiceError as problem:
        log.warning("%s: the lag is unknown: %s", resources.spec.pipeline, problem)
    return settle_summary(settled.receipts, lag)
