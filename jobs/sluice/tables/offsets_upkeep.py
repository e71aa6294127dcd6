"""Upkeep of the offsets table, with delta-rs: few files, a short log, no unreferenced files."""

from __future__ import annotations

import logging

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError

from sluice.errors import CommitConflict, CommitFailed
from sluice.tables.refusals import failed_commit, first_line, reading
from sluice.tables.retention import retention_of

log = logging.getLogger(__name__)

# Larger files are not rewritten each time.
_COMPACTED_BYTES = 1024 * 1024


def compact(uri: str, pipeline: str, at_least: int = 2) -> None:
    """Compact the pipeline's small files, when there are at least this many.

    Left as it is where another commit comes in between. Raises TableRefused, CommitFailed or
    CommitUnknown.
    """
    with reading(uri):
        table = DeltaTable(uri)
        files = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    mine = [each["size_bytes"] for each in files if each["partition.pipeline"] == pipeline]
    if sum(size < _COMPACTED_BYTES for size in mine) < at_least:
        return
    try:
        table.optimize.compact(
            partition_filters=[("pipeline", "=", pipeline)], target_size=_COMPACTED_BYTES
        )
    except CommitFailedError as problem:
        meant = failed_commit(table, problem)
        if not isinstance(meant, CommitConflict):
            raise meant from problem
        log.info("offsets table: left as it is, another process is compacting it")
    except (DeltaError, OSError) as problem:
        raise CommitFailed(f"{uri}: {first_line(problem)}. Run again.") from problem


def clean(uri: str) -> None:
    """Delete files that the table has not referenced for its retention; write a checkpoint.

    Raises SettingsError for a retention that is too short, CommitFailed or CommitUnknown when it
    should be run again.
    """
    with reading(uri):
        retention_of(uri)
    try:
        DeltaTable(uri).vacuum(dry_run=False, full=True)
        DeltaTable(uri).create_checkpoint()
    except (DeltaError, OSError) as problem:
        raise CommitFailed(f"{uri}: {first_line(problem)}. Run again.") from problem
