"""The end of a sequence: its last committed batch, as the data table has it now."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.offsets.batches import Batch, BatchSequence
from sluice.progress.resources import PipelineResources
from sluice.progress.ways_back import require_table
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.fence import FENCE


@dataclass(frozen=True)
class SequenceEnd:
    """How far a sequence is committed; a reset undid any batch that landed above `last`."""

    sequence: BatchSequence
    last: int
    closed: bool


def sequence_end(resources: PipelineResources, sequence: BatchSequence) -> SequenceEnd:
    """How far a sequence is currently committed."""
    return _sequence_end(resources, resources.data.snapshot(), sequence)


def batch_end(resources: PipelineResources, batch: Batch) -> SequenceEnd:
    """The same for a batch's sequence.

    Raises TableRefused in another table than the one that the batch was planned for.
    """
    data = resources.data.snapshot()
    require_table(batch.sequence.pipeline, batch.data_table_id, data)
    return _sequence_end(resources, data, batch.sequence)


def _sequence_end(
    resources: PipelineResources, data: DeltaSnapshot, sequence: BatchSequence
) -> SequenceEnd:
    committed = data.committed(sequence)
    if committed < FENCE:
        return SequenceEnd(sequence, committed, closed=False)
    resets = resources.offsets.snapshot().resets()
    return SequenceEnd(sequence, resets.closed_at(sequence), closed=True)
