"""The end of a Delta log: its newest commit as a file, to tell whether the log is still as read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from deltalake import DeltaTable
from pyarrow.fs import FileInfo, FileType, PyFileSystem

from sluice.errors import CommitUnknown, StoreUnavailable
from sluice.tables.refusals import unreadable_log
from sluice.tables.table_files import files_of_table


class Since(Enum):
    """What has become of a log since it was read: a commit, once written, is never changed."""

    UNCHANGED = "as it was"
    GROWN = "it has further commits"
    UNKNOWN = "it may be another one"


@dataclass(frozen=True)
class LogEnd:
    """The newest commit that a table was read up to.

    Two small requests tell whether it still is, where opening the table replays its log: the same
    file is there, and no next one. So a table that was dropped, put back or created anew is seen.
    """

    files: PyFileSystem
    version: int
    identity: Any

    @classmethod
    def of(cls, table: DeltaTable) -> LogEnd:
        """The end of a table's log, as it was just opened.

        Raises CommitUnknown where the newest commit is an empty file, as a disk may leave it that
        was full or lost power: a checksum file beside it would still say what it had committed.
        """
        files = files_of_table(table.table_uri)
        (newest,) = files.get_file_info([_commit(table.version())])
        if newest.size == 0:
            raise unreadable_log(table.table_uri, f"{newest.path} is empty")
        return cls(files, table.version(), _identity(newest))

    def stands(self) -> bool:
        """Whether the log is still as it was."""
        return self.look() is Since.UNCHANGED

    def look(self) -> Since:
        """What has become of the log."""
        try:
            newest, following = self.files.get_file_info(
                [_commit(self.version), _commit(self.version + 1)]
            )
        except (CommitUnknown, StoreUnavailable):
            return Since.UNKNOWN
        if newest.type != FileType.File or _identity(newest) != self.identity:
            return Since.UNKNOWN
        return Since.UNCHANGED if following.type == FileType.NotFound else Since.GROWN


def _commit(version: int) -> str:
    return f"_delta_log/{version:020d}.json"


def _identity(commit: FileInfo) -> tuple[Any, ...]:
    return commit.type, commit.size, commit.mtime_ns
