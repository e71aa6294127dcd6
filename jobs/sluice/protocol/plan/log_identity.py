"""Log identity: a batch's commit keeps a fingerprint of each range's end for the next plan.

The offsets table needs no column for it: every commit lists every partition.
"""

from __future__ import annotations

from sluice.broker.batch_probes import read_fingerprints
from sluice.offsets.batches import Batch
from sluice.offsets.partition_log import KafkaState
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.log_changes import (
    Fingerprints,
    compare_fingerprints,
    ends_held,
    require_no_contradiction,
)
from sluice.tables.delta_log import DeltaSnapshot


def take_fingerprints(
    resources: PipelineResources, batch: Batch, state: KafkaState
) -> Fingerprints:
    """The fingerprint of the record before each range's end; call it before the batch is read.

    Unknown on a topic that compacts: the log cleaner rewrites its record batches.
    """
    held = ends_held(batch, state)
    compacting = resources.kafka.compacting({each.topic for each in held})
    requested = {
        partition: end for partition, end in held.items() if partition.topic not in compacting
    }
    return read_fingerprints(resources.client, requested)


def require_same_log(
    resources: PipelineResources, data: DeltaSnapshot, last: Batch, state: KafkaState
) -> None:
    """Compare the log with the last committed batch. Raises ResetNeeded for another copy."""
    expected = data.fingerprints(last)
    held = {each: end for each, end in ends_held(last, state).items() if expected.get(each)}
    if not held:
        return
    found = read_fingerprints(resources.client, held)
    require_no_contradiction(
        last.sequence.pipeline,
        (
            each
            for each in compare_fingerprints(held, expected, found)
            if not resources.kafka.compacts(each.partition.topic)
        ),
    )
