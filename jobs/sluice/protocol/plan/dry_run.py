"""Look before you leap: what the next run would do. Reads only, from the tables and from Kafka."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

from sluice.broker.batch_probes import read_samples
from sluice.errors import BrokerUnavailable, SettingsError
from sluice.offsets.batches import Batch
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.plan import Plan
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table
from sluice.protocol.plan.lags import read_lags, unknown_times
from sluice.protocol.plan.log_changes import readable_ranges
from sluice.protocol.plan.outlook import Basis, Outlook
from sluice.protocol.plan.start import start_without_effect
from sluice.protocol.plan.write_plan import next_plan
from sluice.tables.batch_commits import batch_sizes
from sluice.tables.offsets_table import OffsetsSnapshot

log = logging.getLogger(__name__)


def dry_run(parts: PipelineResources) -> Outlook:
    """What the next run would do; raises what it would raise before it reads anything."""
    snapshot, history, committed = parts.progress(parts.offsets.snapshot)
    check_data_table(parts, snapshot, history.sequence)
    state = parts.kafka.state(parts.spec)
    unfinished = history.after(committed)
    for batch in unfinished:
        readable_ranges(batch, state, parts.records_losses)
    new = Plan(()) if unfinished else next_plan(parts, history, state)
    ranges = _ranges(unfinished or new.batches)
    cursor = {each: at.offsets.end for each, at in history.cursor_at(committed).items()}
    found = read_lags(parts, {**_firsts(ranges), **cursor}, state)
    return Outlook(
        pipeline=parts.spec.pipeline,
        adopted=unfinished,
        planned=new.batches,
        losses=new.losses,
        lags=tuple(found),
        basis=_basis(parts, ranges, state),
        max_records_per_batch=parts.spec.max_records_per_batch,
        notes=(
            *_interrupted(parts, snapshot),
            *_ineffective(parts, snapshot),
            *unknown_times(found),
        ),
    )


def _ranges(batches: Sequence[Batch]) -> list[OffsetRange]:
    return [
        planned.offsets for batch in batches for planned in batch.ranges if planned.offsets.span
    ]


def _basis(parts: PipelineResources, ranges: list[OffsetRange], state: KafkaState) -> Basis:
    return Basis(
        _samples(parts, ranges, state),
        batch_sizes(parts.tables.data(parts.spec.table)),
        bool(parts.spec.partition_by or parts.spec.cluster_by),
    )


def _firsts(ranges: list[OffsetRange]) -> Mapping[TopicPartition, int]:
    return {each.partition: each.start for each in reversed(ranges)}


def _samples(
    parts: PipelineResources, ranges: list[OffsetRange], state: KafkaState
) -> Mapping[TopicPartition, float]:
    held = [each for each in ranges if each.span and each.partition in state.logs]
    starts = {
        partition: max(start, state.logs[partition].log_start_offset)
        for partition, start in _firsts(held).items()
    }
    try:
        return read_samples(parts.client, starts)
    except (BrokerUnavailable, SettingsError) as problem:
        # An estimate is worth no failure.
        log.info("%s: sizes in Kafka are unknown: %s", parts.spec.pipeline, problem)
        return {}


def _interrupted(parts: PipelineResources, snapshot: OffsetsSnapshot) -> Iterator[str]:
    pending = snapshot.resets(parts.spec.pipeline).newest
    if pending is not None and not pending.done:
        yield f"the reset to generation {pending.generation} was interrupted: finished before that"


def _ineffective(parts: PipelineResources, snapshot: OffsetsSnapshot) -> Iterator[str]:
    if ineffective := start_without_effect(parts, snapshot):
        yield ineffective
