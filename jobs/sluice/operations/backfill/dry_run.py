"""A backfill's dry run: what rereading would do. Writes nothing."""

from __future__ import annotations

from sluice.operations.backfill.plan_backfill import preview_backfill
from sluice.operations.backfill.selection import Selection
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.dry_run import (
    estimate_basis,
    first_offsets,
    interrupted_reset,
    non_empty_ranges,
)
from sluice.protocol.plan.lags import read_lags, unknown_times
from sluice.protocol.plan.outlook import Outlook


def dry_run_backfill(resources: PipelineResources, selection: Selection) -> Outlook:
    """What a backfill would do. Raises what it would raise before it reads any record."""
    found = preview_backfill(resources, selection)
    ranges = non_empty_ranges((*found.unfinished, *found.plan.batches))
    state = resources.kafka.state(resources.spec)
    reads = [
        each
        for each in read_lags(resources, first_offsets(ranges), state)
        if each.cursor is not None
    ]
    return Outlook(
        pipeline=resources.spec.pipeline,
        adopted=found.unfinished,
        planned=found.plan.batches,
        losses=(),
        lags=tuple(reads),
        basis=estimate_basis(resources, ranges, state),
        max_records_per_batch=resources.spec.max_records_per_batch,
        notes=(
            *interrupted_reset(found.resets),
            *map(str, found.plan.left_out),
            *found.erased.lines,
            *unknown_times(reads),
        ),
        reads_again=True,
    )
