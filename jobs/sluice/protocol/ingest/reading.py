"""A reading: one attempt at a batch, of logs that are still the ones that were read before."""

from __future__ import annotations

import logging

from sluice.lake.port import BatchAttempt
from sluice.offsets.batches import Batch, Cursor
from sluice.offsets.losses import RecordLoss
from sluice.offsets.partition_log import KafkaState
from sluice.progress.former_registries import former_registries
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.fingerprints import Fingerprints, unmoved
from sluice.protocol.plan.foreign_settings import require_replaceable
from sluice.protocol.plan.log_changes import Contradiction, compare_held, readable_ranges
from sluice.protocol.plan.log_identity import (
    compare_logs,
    known_fingerprints,
    take_fingerprints,
)
from sluice.protocol.plan.table_fit import require_fitting_table

log = logging.getLogger(__name__)


def prepare_reading(resources: PipelineResources, forward: LaneState, batch: Batch) -> BatchAttempt:
    """The attempt to read a batch now; `forward` is the forward lane, whichever the batch's is.

    Raises ResetNeeded if a log changed that the batch goes on with, or reads again; DataLost if
    retention deleted part of a range; what `require_fitting_table` raises if others changed the
    table since it was planned.
    """
    require_fitting_table(resources.kept_spec, forward.data)
    require_replaceable(forward.data, [batch])
    state = resources.kafka.state(resources.spec)
    known = known_fingerprints(forward, forward.newest, forward.cursor)
    kept = {each: known[each] for each in _idle(forward, batch) if each in known}
    # In this order: if the log is replaced in between, this comparison fails, or the next batch's.
    taken = _take_fingerprints(resources, batch, kept, state)
    changes = _find_changes(resources, forward, batch, known, kept, state)
    # Retention may delete records before a backfill reads them; their earlier rows stay.
    policy = RecordLoss() if batch.sequence.lane == "backfill" else resources.spec.data_loss
    ranges = readable_ranges(batch, state, policy, changes)
    former = former_registries(resources.spec, resources.schemas, forward, batch)
    for each in former:
        log.info("%s: %s", batch, each)
    return BatchAttempt(
        batch,
        tuple(ranges),
        resources.chance.name(),
        fingerprints={**taken, **kept},
        spec=resources.spec.edition,
        former=former,
        table_id=forward.data.table_id,
        # Looked up only where it matters: it costs a broker request.
        compacts=batch.mode == "replace"
        and bool(resources.kafka.compacting({each.partition.topic for each in ranges})),
    )


def _idle(forward: LaneState, batch: Batch) -> Cursor:
    """The ranges that read nothing: their partitions keep the fingerprint that they have."""
    standing = unmoved(forward.cursor, batch.by_partition)
    return {each: planned for each, planned in standing.items() if not planned.offsets.span}


def _take_fingerprints(
    resources: PipelineResources, batch: Batch, kept: Fingerprints, state: KafkaState
) -> Fingerprints:
    """Fingerprints of the new cursor, where it moves; a backfill moves none."""
    if batch.sequence.lane == "backfill":
        return {}
    moving = {each: to for each, to in batch.by_partition.items() if each not in kept}
    return take_fingerprints(resources, moving, state)


def _find_changes(
    resources: PipelineResources,
    forward: LaneState,
    batch: Batch,
    known: Fingerprints,
    kept: Fingerprints,
    state: KafkaState,
) -> list[Contradiction]:
    """Where a log that the batch reads is no longer the one up to the forward lane's cursor."""
    read = {
        each: forward.cursor[each]
        for each in batch.by_partition
        if each in forward.cursor and each not in kept
    }
    found = compare_logs(resources, forward, read, known, state)
    if batch.sequence.lane == "backfill":
        # Its own ranges end below the cursor, and say nothing about the log above them.
        held = compare_held(read, state)
        found = [*(each for each in held if isinstance(each, Contradiction)), *found]
    return found
