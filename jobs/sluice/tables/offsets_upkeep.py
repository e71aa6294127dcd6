"""Upkeep of the offsets table, with delta-rs: few files, a short log, no unreferenced files."""

from __future__ import annotations

import logging

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, WriterProperties

from sluice.errors import (
    CommitConflict,
    CommitFailed,
    CommitUnknown,
    StoreUnavailable,
    TableRefused,
)
from sluice.tables.refusals import committing, reading, storing
from sluice.tables.retention import retention_of

log = logging.getLogger(__name__)

# Compact only above this many files: few to read, yet not rewritten on every plan and receipt.
_MANY_FILES = 20
# Larger files are not rewritten each time.
_COMPACTED_BYTES = 1024 * 1024
# A batch's rows are found by statistics: of files, and of row groups within a file.
ROW_GROUPS = WriterProperties(max_row_group_size=8192)


def compact_now_and_then(uri: str) -> None:
    """Compact small files when there are many; a failure is only a warning."""
    try:
        compact(uri, at_least=_MANY_FILES)
    except (CommitFailed, CommitUnknown, StoreUnavailable, TableRefused) as problem:
        log.warning("not compacted: %s", problem)


def compact(uri: str, at_least: int = 2) -> None:
    """Compact small files, when there are at least this many; a commit in between goes first.

    Raises TableRefused, CommitFailed or CommitUnknown.
    """
    with reading(uri):
        table = DeltaTable(uri)
        sizes = pa.table(table.get_add_actions())["size_bytes"]
    if (pc.sum(pc.less(sizes, _COMPACTED_BYTES)).as_py() or 0) < at_least:
        return
    try:
        with committing(table):
            table.optimize.compact(target_size=_COMPACTED_BYTES, writer_properties=ROW_GROUPS)
    except CommitConflict:
        log.info("%s: left as it is, another process is compacting it", uri)


def clean(uri: str) -> None:
    """Delete files that the table has not referenced for its retention; write a checkpoint.

    Raises SettingsError for a retention that is too short, CommitFailed or CommitUnknown when it
    should be run again.
    """
    with reading(uri):
        retention_of(uri)
    with storing(uri):
        DeltaTable(uri).vacuum(dry_run=False, full=True)
        DeltaTable(uri).create_checkpoint()
