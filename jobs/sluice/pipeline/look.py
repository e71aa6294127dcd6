"""Look before you leap: what the next run would do. Reads only, from the tables and from Kafka."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

from sluice.broker.kafka_state import KafkaState
from sluice.broker.samples import read_samples
from sluice.errors import BrokerUnavailable, SettingsError
from sluice.pipeline.altered import require_unaltered
from sluice.pipeline.backfill import preview_backfill
from sluice.pipeline.lagging import read_lags, unknown_times
from sluice.pipeline.parts import Parts
from sluice.pipeline.plan import next_plan
from sluice.pipeline.starting import start_without_effect
from sluice.pipeline.wanted import Asked
from sluice.planning.batches import Batch
from sluice.planning.findings import readable
from sluice.planning.outlook import Basis, Outlook
from sluice.planning.plans import Plan
from sluice.planning.ranges import OffsetRange, TopicPartition
from sluice.tables.batch_sizes import batch_sizes
from sluice.tables.offsets_table import OffsetsSnapshot

log = logging.getLogger(__name__)


def look(parts: Parts) -> Outlook:
    """What the next run would do; raises what it would raise before it reads anything."""
    snapshot, history, committed = parts.progress(parts.offsets.snapshot)
    require_unaltered(parts, snapshot, history.sequence)
    state = parts.kafka.state(parts.spec)
    unfinished = history.after(committed)
    for batch in unfinished:
        readable(batch, state, parts.records_losses)
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


def look_again(parts: Parts, asked: Asked) -> Outlook:
    """What reading again would do; raises what it would raise before it reads anything."""
    found = preview_backfill(parts, asked)
    ranges = _ranges((*found.unfinished, *found.plan.batches))
    state = parts.kafka.state(parts.spec)
    reads = [each for each in read_lags(parts, _firsts(ranges), state) if each.cursor is not None]
    return Outlook(
        pipeline=parts.spec.pipeline,
        adopted=found.unfinished,
        planned=found.plan.batches,
        losses=(),
        lags=tuple(reads),
        basis=_basis(parts, ranges, state),
        max_records_per_batch=parts.spec.max_records_per_batch,
        notes=(
            *_interrupted(parts, parts.offsets.snapshot()),
            *map(str, found.plan.left_out),
            *unknown_times(reads),
        ),
        reads_again=True,
    )


def _ranges(batches: Sequence[Batch]) -> list[OffsetRange]:
    return [
        planned.offsets for batch in batches for planned in batch.ranges if planned.offsets.span
    ]


def _basis(parts: Parts, ranges: list[OffsetRange], state: KafkaState) -> Basis:
    return Basis(
        _samples(parts, ranges, state),
        batch_sizes(parts.tables.data(parts.spec.table)),
        bool(parts.spec.partition_by or parts.spec.cluster_by),
    )


def _firsts(ranges: list[OffsetRange]) -> Mapping[TopicPartition, int]:
    return {each.partition: each.start for each in reversed(ranges)}


def _samples(
    parts: Parts, ranges: list[OffsetRange], state: KafkaState
) -> Mapping[TopicPartition, float]:
    held = [each for each in ranges if each.span and each.partition in state.logs]
    starts = {
        partition: max(start, state.logs[partition].log_start_offset)
        for partition, start in _firsts(held).items()
    }
    try:
        return read_samples(parts.client.settings, starts)
    except (BrokerUnavailable, SettingsError) as problem:
        # An estimate is worth no failure.
        log.info("%s: sizes in Kafka are unknown: %s", parts.spec.pipeline, problem)
        return {}


def _interrupted(parts: Parts, snapshot: OffsetsSnapshot) -> Iterator[str]:
    pending = snapshot.resets(parts.spec.pipeline).newest
    if pending is not None and not pending.done:
        yield f"the reset to generation {pending.generation} was interrupted: finished before that"


def _ineffective(parts: Parts, snapshot: OffsetsSnapshot) -> Iterator[str]:
    if ineffective := start_without_effect(parts, snapshot):
        yield ineffective
