"""The Delta log of the data and quarantine tables, read with delta-rs: what has been committed.

A snapshot is one version. Where the protocol needs newer facts, it takes another snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from sluice.errors import CommitUnknown, TableRefused
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import TopicIdPartition, TopicPartition
from sluice.tables.batch_commits import BatchCommit, attempt_of, batch_of, fingerprints_of
from sluice.tables.commits import commit_infos, commits_after
from sluice.tables.coordinates import StoredCoordinates, group_coordinates
from sluice.tables.features import unwritable_features
from sluice.tables.fence import FENCE, Fencing
from sluice.tables.foreign_commits import TableCommit, require_no_foreign_commits
from sluice.tables.log_end import LogEnd
from sluice.tables.ownership import require_owner
from sluice.tables.rows import dataset, removed_rows
from sluice.tables.scoped_rows import count_rows, rows_in

COORDINATES = pa.schema(
    [
        ("_topic_id", pa.string()),
        ("_partition", pa.int32()),
        ("_offset", pa.int64()),
        ("_batch", pa.string()),
    ]
)
KEYS = ["_topic_id", "_partition", "_offset"]


class DeltaLog:
    """The log of a data or quarantine table; it is read anew once it is no longer as it was."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._read: tuple[LogEnd, DeltaSnapshot] | None = None

    def snapshot(self) -> DeltaSnapshot:
        """The table as it is now. Raises CommitUnknown where its log is unreadable."""
        if self._read is not None and self._read[0].stands():
            return self._read[1]
        table = _table_at(self.uri)
        found = DeltaSnapshot(self.uri, table)
        self._read = None if table is None else (LogEnd.of(table), found)
        return found

    def exists(self) -> bool:
        """Whether there is a table now."""
        return self.snapshot().version is not None


class DeltaSnapshot:
    """A table at one version; everything is empty where there is no table yet."""

    def __init__(self, uri: str, table: DeltaTable | None) -> None:
        self.uri = uri
        self._table = table

    @property
    def version(self) -> int | None:
        """The table's version; None while there is no table."""
        return None if self._table is None else int(self._table.version())

    @property
    def table_id(self) -> str | None:
        """The table's Delta id: the same after OPTIMIZE and RESTORE, another one for a new table.

        None while there is no table.
        """
        return None if self._table is None else str(self._table.metadata().id)

    def committed(self, sequence: BatchSequence) -> int:
        """The number of the last committed batch of a sequence, 0 when there is none.

        This is the commit rule: nothing else decides. FENCE for a sequence that a reset closed.
        Raises TableRefused where the table is not this pipeline's.
        """
        if self._table is None:
            return 0
        self._require_owner(sequence.pipeline)
        return self._table.transaction_version(sequence.app_id) or 0

    def closed(self, sequence: BatchSequence) -> bool:
        """Whether a reset's fence stands, so that no batch of the sequence can land any more."""
        return self.committed(sequence) == FENCE

    def fencing(self) -> Fencing | None:
        """This version as the base for a fence; None while there is no table.

        Raises TableRefused for a table that delta-rs cannot write, such as a clustered one.
        """
        if self._table is None:
            return None
        if unknown := unwritable_features(self._table):
            raise TableRefused(
                f"{self.uri}: expected table features that delta-rs writes, found"
                f" {', '.join(unknown)}: the generation cannot be closed. Remove the feature with"
                " ALTER TABLE … DROP FEATURE, or read the topic again with a new pipeline into a"
                " new table."
            )
        return Fencing(self._table)

    def require_no_foreign_commits(self, pipeline: str, since: int = -1) -> list[TableCommit]:
        """The commits above a version, if none of them replaced the table or is another writer's.

        Raises TableRefused with what was done to the table, and the way back.
        """
        if self._table is None:
            return []
        commits = commits_after(self._table, since)
        properties = self._table.metadata().configuration
        require_no_foreign_commits(self.uri, pipeline, commits, properties)
        return commits

    def commit_of(self, batch: Batch) -> BatchCommit:
        """The commit of a committed batch. Raises TableRefused when the log has lost it."""
        found = self._find(batch)
        if found is None:
            raise TableRefused(
                f"{self.uri}: batch {batch} is committed, but its commit is no longer in the"
                " table's log, so no receipt can be written. Raise"
                " `delta.logRetentionDuration` and settle batches before it ends."
            )
        version, commit = found
        rows = int(commit.get("operationMetrics", {}).get("numOutputRows", 0))
        return BatchCommit(version, rows, attempt_of(commit))

    def fingerprints(self, batch: Batch) -> Mapping[TopicPartition, str]:
        """The known fingerprints of a batch's commit; none when the log has lost the commit."""
        found = self._find(batch)
        return {} if found is None else fingerprints_of(found[1])

    def coordinates(
        self, batch: Batch | None = None, version: int | None = None
    ) -> StoredCoordinates:
        """The coordinates of all rows, or of a batch's rows; at this version or an older one."""
        table = self._table if version is None else _table_at(self.uri, version)
        if table is None:
            return group_coordinates(COORDINATES.empty_table())
        mine = None if batch is None else pads.field("_batch") == str(batch)
        return group_coordinates(dataset(table).to_table(columns=COORDINATES.names, filter=mine))

    def rows(self, columns: Sequence[str], scope: OffsetScope | None = None) -> pa.Table:
        """Columns, the coordinates among them, of the rows at some offsets, or of all."""
        if self._table is None:
            return COORDINATES.empty_table()
        return rows_in(self._table, columns, scope)

    def coordinates_in(self, scope: OffsetScope) -> StoredCoordinates:
        """The coordinates of the rows at these offsets."""
        return group_coordinates(self.rows(COORDINATES.names, scope))

    def row_counts(self, scope: OffsetScope | None = None) -> Mapping[TopicIdPartition, int]:
        """How many rows each partition has, at some offsets or in all."""
        return {} if self._table is None else count_rows(self._table, scope)

    def removed(self, version: int) -> StoredCoordinates | None:
        """The coordinates that a version removed; None where this is no longer known."""
        rows = removed_rows(self.uri, version, COORDINATES.names, KEYS)
        return None if rows is None else group_coordinates(rows)

    def _find(self, batch: Batch) -> tuple[int, Mapping[str, Any]] | None:
        """The version and commitInfo of a batch; nearly always among the newest few."""
        if self._table is None:
            return None
        mine = (batch.sequence.app_id, batch.number)
        return next((each for each in commit_infos(self._table) if batch_of(each[1]) == mine), None)

    def _require_owner(self, pipeline: str) -> None:
        assert self._table is not None
        try:
            require_owner(self.uri, self._table, pipeline)
        except TableRefused:
            # A foreign commit explains more, if the table's log still holds it.
            self.require_no_foreign_commits(pipeline)
            raise


def _table_at(uri: str, version: int | None = None) -> DeltaTable | None:
    try:
        return DeltaTable(uri, version=version)
    except TableNotFoundError:
        return None
    except (DeltaError, OSError) as problem:
        raise CommitUnknown(f"{uri}: its log cannot be read: {problem}") from problem
