"""A backfill's dry run: what rereading would do. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from sluice.offsets.plan import Plan
from sluice.offsets.ranges import span_of
from sluice.operations.backfill.plan_backfill import preview_backfill
from sluice.operations.backfill.selection import Selection
from sluice.progress.former_registries import former_lines
from sluice.progress.interrupted import interrupted_reset
from sluice.progress.lane_state import read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.dry_run import estimate_basis, first_offsets, non_empty_ranges
from sluice.protocol.plan.lags import read_lags, unknown_times
from sluice.protocol.plan.outlook import Outlook


def dry_run_backfill(resources: PipelineResources, selection: Selection) -> Outlook:
    """What a backfill would do. Raises what it would raise before it reads any record."""
    found = preview_backfill(resources, selection)
    batches = (*found.unfinished, *found.plan.batches)
    ranges = non_empty_ranges(batches)
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
            *found.plan.told,
            *_untouched(found.plan),
            *found.erased.remarks,
            *former_lines(resources.spec, resources.schemas, read_unchecked(resources), batches),
            *unknown_times(reads),
        ),
        reads_again=True,
    )


def _untouched(plan: Plan) -> Iterator[str]:
    """How much is read only because it lies between."""
    offsets = sum(each.span for each in plan.batches)
    written = sum(each.span if each.only is None else span_of(each.only) for each in plan.batches)
    if written < offsets:
        yield (
            f"of these {offsets:,} offsets {written:,} are written; the rows between them stay as"
            " they are"
        )
