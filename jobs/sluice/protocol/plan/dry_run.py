"""A dry run: what the next run would do. Reads only, from the tables and from Kafka."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

from sluice.errors import BrokerUnavailable, SettingsError
from sluice.offsets.batches import Batch, positions_there
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.progress.former_registries import former_lines
from sluice.progress.interrupted import interrupted_reset
from sluice.progress.lane_state import LaneState
from sluice.progress.lanes import read_lane
from sluice.progress.overdue import without_receipt
from sluice.progress.readers import spec_to_plan
from sluice.progress.resources import PipelineResources
from sluice.progress.undecodable import too_many_undecodable
from sluice.protocol.plan.known_logs import KnownLogs
from sluice.protocol.plan.lags import read_lags, unknown_times
from sluice.protocol.plan.next_run import next_work
from sluice.protocol.plan.outlook import EstimateBasis, Outlook
from sluice.protocol.plan.start import start_without_effect
from sluice.protocol.plan.table_changes import changed_reading, changes_of_table
from sluice.protocol.plan.table_fit import told_of_table
from sluice.tables.batch_commits import batch_sizes
from sluice.tables.offsets_snapshot import OffsetsSnapshot

log = logging.getLogger(__name__)


def dry_run(resources: PipelineResources) -> Outlook:
    """What the next run would do. Raises what that run would raise before it reads any record.

    What it may find in the records, such as too many undecodable ones as before, is a note.
    """
    lane = read_lane(resources)
    state = resources.kafka.state(resources.spec)
    spec, notes = spec_to_plan(resources, lane.data.columns)
    new = next_work(resources, lane, spec, KnownLogs(state))
    batches = lane.unfinished or new.batches
    ranges = non_empty_ranges(batches)
    # An empty range says where its partition begins.
    begin = first_offsets([planned.offsets for batch in batches for planned in batch.ranges])
    found = read_lags(resources, {**begin, **positions_there(lane.cursor, state.logs)}, state)
    return Outlook(
        pipeline=resources.spec.pipeline,
        adopted=lane.unfinished,
        planned=new.batches,
        losses=new.losses,
        lags=tuple(found),
        basis=estimate_basis(resources, ranges, state),
        max_records_per_batch=resources.spec.max_records_per_batch,
        notes=(
            *_last_attempt(resources, lane),
            *interrupted_reset(lane.resets),
            *without_receipt(lane),
            *_start_note(resources, lane.snapshot),
            *notes,
            *told_of_table(spec, lane.data),
            *changes_of_table(spec, lane.data.columns, lane.data.settings),
            *changed_reading(spec, lane.data.log.newest_edition()),
            *spec.formats.told(),
            *former_lines(spec, resources.schemas, lane, batches),
            *unknown_times(found),
        ),
    )


def non_empty_ranges(batches: Sequence[Batch]) -> list[OffsetRange]:
    """The non-empty ranges of the batches."""
    return [
        planned.offsets for batch in batches for planned in batch.ranges if planned.offsets.span
    ]


def estimate_basis(
    resources: PipelineResources, ranges: list[OffsetRange], state: KafkaState
) -> EstimateBasis:
    """What the estimates for these ranges are based on."""
    return EstimateBasis(
        _sampled_sizes(resources, ranges, state),
        batch_sizes(resources.tables.data(resources.spec.table)),
        bool(resources.spec.partition_by or resources.spec.cluster_by),
    )


def first_offsets(ranges: list[OffsetRange]) -> Mapping[TopicPartition, int]:
    """The first offset of each partition that is read."""
    return {each.partition: each.start for each in reversed(ranges)}


def _sampled_sizes(
    resources: PipelineResources, ranges: list[OffsetRange], state: KafkaState
) -> Mapping[TopicPartition, float]:
    held = [each for each in ranges if each.span and each.partition in state.logs]
    starts = {
        partition: max(start, state.logs[partition].log_start_offset)
        for partition, start in first_offsets(held).items()
    }
    try:
        return resources.kafka.bytes_per_offset(starts)
    except (BrokerUnavailable, SettingsError) as problem:
        # Never fail for an estimate.
        log.info("%s: sizes in Kafka are unknown: %s", resources.spec.pipeline, problem)
        return {}


def _last_attempt(resources: PipelineResources, lane: LaneState) -> Iterator[str]:
    """What the last attempt at what is unfinished ended with, if the next one may end so again."""
    if problem := too_many_undecodable(resources, lane):
        yield str(problem)


def _start_note(resources: PipelineResources, snapshot: OffsetsSnapshot) -> Iterator[str]:
    if ineffective := start_without_effect(resources, snapshot):
        yield ineffective
