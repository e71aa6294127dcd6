"""The predecessor of a commit: the version that it is based on must still be in the table's log.

A process that runs while an older copy of a table is put back would otherwise leave a log with a
hole, which no reader accepts. And it would land its batch in another table that is put in the place
of its own, where the batch may be already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deltalake import DeltaTable
from pyarrow.fs import FileSelector, FileType

from sluice.errors import CommitConflict
from sluice.tables.table_files import files_in

_LOG = "_delta_log"


@dataclass(frozen=True)
class BasedOn:
    """A version of a table's log, and the digest of the commit there, which no other log has.

    A batch's commit says on which one it was prepared. Spark's log stores refuse it where that is
    not there: jobs/jvm/commit/BasedOn.scala.
    """

    version: int
    digest: int

    def as_dict(self) -> Mapping[str, int]:
        """As the commit says it."""
        return {"version": self.version, "digest": self.digest}


def require_predecessor(based_on: DeltaTable) -> None:
    """Raises CommitConflict where neither the version's commit nor a checkpoint of it is there.

    Asked right before a commit: delta-rs itself asks only that the next version is free.
    """
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
