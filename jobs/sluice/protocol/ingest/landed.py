"""Landed batches: what the commits of a run's work hold."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.offsets.batches import Batch, BatchReference
from sluice.progress.resources import PipelineResources
from sluice.progress.sequence_end import sequence_end
from sluice.tables.delta_snapshot import DeltaSnapshot


@dataclass(frozen=True)
class LandedBatch:
    """A committed batch, the data table's version it landed in, and the rows that are its own.

    Both are None where the table no longer tells.
    """

    batch: Batch
    version: int | None
    rows: int | None


def read_landed(resources: PipelineResources, work: BatchReference) -> tuple[LandedBatch, ...]:
    """The batches of the work that are committed, in order. Does not contact Kafka."""
    if not work:
        return ()
    last = min(work.batches[-1], sequence_end(resources, work.sequence).last)
    planned = resources.offsets.snapshot().batches(work.sequence, work.batches[0], last=last)
    data = resources.data.snapshot()
    return tuple(_landed(data, each) for each in planned)


def _landed(data: DeltaSnapshot, batch: Batch) -> LandedBatch:
    commit = data.log.commit_of(batch)
    if commit is None:
        return LandedBatch(batch, None, None)
    if batch.mode == "append":
        return LandedBatch(batch, commit.version, commit.rows)
    # The commit also counts the rows of others that it moved into new files.
    rows = data.landing(batch).rows
    return LandedBatch(batch, commit.version, rows.count if rows else None)
