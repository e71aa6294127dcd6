"""The predecessor of a commit: the version that it is based on must still be in the table's log.

A process that runs while an older copy of a table is put back would otherwise leave a log with a
hole, which no reader accepts; and one that runs while another table takes its place would write
into that what was decided on before.
"""

from __future__ import annotations

from deltalake import DeltaTable
from pyarrow.fs import FileSelector, FileType

from sluice.errors import CommitConflict
from sluice.tables.table_files import files_in, open_table

_LOG = "_delta_log"


def require_predecessor(based_on: DeltaTable) -> None:
    """Raises CommitConflict where neither the version's commit nor a checkpoint of it is there, or
    where it is another table's.

    Asked right before a commit: delta-rs itself asks only that the next version is free.
    """
    _require_version(based_on)
    if open_table(based_on.table_uri).metadata().id != based_on.metadata().id:
        raise CommitConflict(f"{based_on.table_uri}: another table was put in its place")


def _require_version(based_on: DeltaTable) -> None:
    files, version = files_in(based_on.table_uri), f"{based_on.version():020d}"
    (commit,) = files.get_file_info([f"{_LOG}/{version}.json"])
    if commit.type == FileType.File:
        return
    there = files.get_file_info(FileSelector(_LOG, allow_not_found=True))
    if not any(each.base_name.startswith(f"{version}.checkpoint.") for each in there):
        raise CommitConflict(
            f"{based_on.table_uri}: version {based_on.version()} is gone from its log: an older"
            " copy was put back"
        )
