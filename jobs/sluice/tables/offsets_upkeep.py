"""Upkeep of the offsets table, with delta-rs: few files, a short log, no unreferenced files."""

from __future__ import annotations

import logging

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, WriterProperties
from deltalake.exceptions import CommitFailedError, DeltaError

from sluice.errors import CommitFailed
from sluice.tables.retention import retention_of

log = logging.getLogger(__name__)

# Larger files are not rewritten each time.
_COMPACTED_BYTES = 1024 * 1024
# A batch's rows are found by statistics: of files, and of row groups within a file.
ROW_GROUPS = WriterProperties(max_row_group_size=8192)


def compact(uri: str, at_least: int = 2) -> None:
    """Compact small files, when there are at least this many."""
    table = DeltaTable(uri)
    sizes = pa.table(table.get_add_actions())["size_bytes"]
    if pc.sum(pc.less(sizes, _COMPACTED_BYTES)).as_py() < at_least:
        return
    try:
        table.optimize.compact(target_size=_COMPACTED_BYTES, writer_properties=ROW_GROUPS)
    except CommitFailedError:
        log.info("%s: left as it is, another process is compacting it", uri)


def clean(uri: str) -> None:
    """Delete files that the table has not referenced for its retention; write a checkpoint.

    Raises SettingsError for a retention that is too short, CommitFailed when it should be run
    again.
    """
    retention_of(uri)
    try:
        DeltaTable(uri).vacuum(dry_run=False, full=True)
        DeltaTable(uri).create_checkpoint()
    except (DeltaError, OSError) as problem:
        raise CommitFailed(f"{uri}: {problem}. Run again.") from problem
