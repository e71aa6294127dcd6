"""The data or quarantine table as it is now, read with delta-rs.

A snapshot is one version. Where the protocol needs newer facts, it takes another snapshot.
"""

from __future__ import annotations

from deltalake import DeltaTable

from sluice.tables.commits import OthersCommits
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.log_end import LogEnd, Since
from sluice.tables.refusals import reading_log
from sluice.tables.table_there import table_there


class DeltaLog:
    """The log of a data or quarantine table; it is read anew once it is no longer as it was."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._read: tuple[LogEnd, DeltaSnapshot] | None = None
        self._others: OthersCommits = {}

    def snapshot(self) -> DeltaSnapshot:
        """The table as it is now. Raises CommitUnknown where its log is unreadable."""
        if self._read is not None and self._read[0].stands():
            return self._read[1]
        with reading_log():
            table = table_there(self.uri)
            end = None if table is None else LogEnd.of(table)
        # Looked at once more: it may have been exchanged before it was opened.
        if self._read is None or self._read[0].look() is Since.UNKNOWN:
            self._others = {}
        found = self._as_snapshot(table, self._others)
        self._read = None if end is None else (end, found)
        return found

    def _as_snapshot(self, table: DeltaTable | None, others: OthersCommits) -> DeltaSnapshot:
        return DeltaSnapshot(self.uri, table, others)

    def continues(self, read: DeltaSnapshot) -> bool:
        """Whether the log, as it is now, still has what was read last as its beginning."""
        if self._read is None or self._read[1] is not read:
            return False
        return self._read[0].look() is not Since.UNKNOWN

    def exists(self) -> bool:
        """Whether there is a table now."""
        return self.snapshot().version is not None
