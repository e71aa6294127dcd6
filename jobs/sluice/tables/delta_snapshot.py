"""A data or quarantine table at one version, read with delta-rs: what has been committed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from sluice.columns.columns import Column
from sluice.errors import TableRefused
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import TopicIdPartition
from sluice.spec_file.table_settings import TableSettings
from sluice.tables.batch_commits import BatchCommit
from sluice.tables.commits import OthersCommits, written_files
from sluice.tables.coordinates import (
    COORDINATES,
    KEYS,
    Landing,
    StoredCoordinates,
    group_coordinates,
)
from sluice.tables.data_files import Condition, files_named, read_files
from sluice.tables.features import unfenceable_features
from sluice.tables.fence import FENCE, Fencing
from sluice.tables.log_snapshot import LogSnapshot
from sluice.tables.ownership import if_a_copy, owner_of, require_owner
from sluice.tables.refusals import UNREADABLE, reading
from sluice.tables.rows import removed_rows, rows_where
from sluice.tables.scoped_rows import (
    count_by_place,
    ends_by_place,
    has_rows,
    require_files_at,
    rows_in,
)
from sluice.tables.stamped_rows import RunsByPlace, TimeWindow, rows_inside, rows_outside
from sluice.tables.stored_columns import stored_columns
from sluice.tables.stored_rows import StoredRows, stored_rows
from sluice.tables.stored_settings import stored_settings
from sluice.tables.table_files import files_of_table
from sluice.tables.table_size import TableSize, size_of

log = logging.getLogger(__name__)

_OTHER_RANGES = (
    "its commit names other ranges than its plan: a Spark that sees another warehouse at this place"
    " has landed another pipeline's batch of this number"
)


class DeltaSnapshot:
    """A table at one version; everything is empty where there is no table yet.

    `others` are commits of others that were read at earlier versions, and gets those read here.
    """

    def __init__(
        self, uri: str, table: DeltaTable | None, others: OthersCommits | None = None
    ) -> None:
        self.uri = uri
        self.log = LogSnapshot(uri, table, others)
        self._table = table
        # By app id: asked again and again, and the same at one version.
        self._transactions: dict[str, int] = {}

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

    def require_files_at(self, scope: OffsetScope) -> None:
        """Raises TableRefused where a file is gone that may have rows at these offsets."""
        if self._table is not None:
            require_files_at(self._table, scope)

    def committed(self, sequence: BatchSequence) -> int:
        """The number of the last committed batch of a sequence, 0 when there is none.

        This is the commit rule: nothing else decides. FENCE for a sequence that a reset closed.
        Raises TableRefused where the table is not this pipeline's.
        """
        if self._table is None:
            return 0
        self._require_owner(sequence.pipeline)
        return self._transaction(sequence.app_id)

    def closed(self, sequence: BatchSequence) -> bool:
        """Whether a reset's fence stands, so that no batch of the sequence can land any more."""
        return self.committed(sequence) == FENCE

    def fencing(self) -> Fencing | None:
        """This version as the base for a fence; None while there is no table.

        Raises TableRefused for a table with a feature that no empty commit is known to respect.
        """
        if self._table is None:
            return None
        if unknown := unfenceable_features(self._table):
            raise TableRefused(
                f"{self.uri}: expected table features that Sluice commits with, found"
                f" {', '.join(unknown)}: the generation cannot be closed. Remove the feature with"
                " ALTER TABLE … DROP FEATURE, or read the topic again with a new pipeline into a"
                " new table."
            )
        return Fencing(self._table)

    @property
    def size(self) -> TableSize:
        """Its rows and bytes."""
        return TableSize() if self._table is None else size_of(self._table)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The table's columns; none where there is no table yet."""
        return () if self._table is None else stored_columns(self._table)

    @property
    def settings(self) -> TableSettings:
        """The table's properties and comments; none where there is no table yet."""
        return TableSettings({}, {}) if self._table is None else stored_settings(self._table)

    @property
    def is_empty(self) -> bool:
        """Whether it has no row."""
        return self._table is None or not has_rows(self._table)

    def stored_rows(self) -> StoredRows:
        """The rows of each batch, counted, and where those of each partition end.

        Raises TableRefused or CommitUnknown where they cannot be read.
        """
        with reading(self.uri):
            return StoredRows({}, {}) if self._table is None else stored_rows(self._table)

    def landing(self, batch: Batch) -> Landing:
        """What a committed batch has written, counted from its commit's own files.

        Where they are gone, from the rows that name the batch in the table's files now.
        """
        commit = self.log.commit_of(batch)
        if commit is None:
            lost = "its commit is no longer in the data table's log"
            return Landing(self.log.landed_in(batch), self.rows_of(batch), lost)
        if not commit.is_of(batch):
            return Landing(commit.version, self.rows_of(batch), _OTHER_RANGES)
        try:
            return Landing(commit.version, self._written_by(batch, commit.version))
        except UNREADABLE as problem:
            log.warning("%s: its commit's files cannot be read: %s", batch, problem)
        rows = self.rows_of(batch)
        doubt = "neither its files nor its rows can be read any more" if rows is None else ""
        return Landing(commit.version, rows, doubt)

    def has_files_of(self, commit: BatchCommit) -> bool:
        """Whether each data file that a commit wrote is there, and whole."""
        assert self._table is not None, "a commit without a table"
        written = written_files(self._table, commit.version)
        there = files_of_table(self.uri).get_file_info([unquote(each.path) for each in written])
        return [each.size for each in there] == [each.size for each in written]

    def coordinates(self, batch: Batch | None = None) -> StoredCoordinates:
        """The coordinates of all rows, or of those that name a batch."""
        mine = [] if batch is None else [("_batch", "=", str(batch))]
        return group_coordinates(self._where(COORDINATES.names, mine))

    def rows_of(self, batch: Batch) -> StoredCoordinates | None:
        """The rows that name a batch; None where the table can no longer be read."""
        try:
            return self.coordinates(batch)
        except UNREADABLE as problem:
            log.warning("%s: its rows cannot be read: %s", batch, problem)
            return None

    def rows(self, columns: Sequence[str], scope: OffsetScope | None = None) -> pa.Table:
        """Columns, the coordinates among them, of the rows at some offsets, or of all."""
        if self._table is None:
            return _no_rows(columns)
        return rows_in(self._table, columns, scope)

    def coordinates_in(self, scope: OffsetScope) -> StoredCoordinates:
        """The coordinates of the rows at these offsets."""
        return group_coordinates(self.rows(COORDINATES.names, scope))

    def row_counts(self, scope: OffsetScope | None = None) -> Mapping[TopicIdPartition, int]:
        """How many rows each partition has, at some offsets or in all."""
        return {} if self._table is None else count_by_place(self._table, scope)

    def ends_in(self, scope: OffsetScope) -> Mapping[TopicIdPartition, int]:
        """Where the rows of each partition end, at some offsets; statistics skip most files."""
        return {} if self._table is None else ends_by_place(self._table, scope)

    def removed(self, version: int) -> StoredCoordinates | None:
        """The coordinates that a version removed; None where this is no longer known."""
        if self._table is None:
            return None
        rows = removed_rows(self._table, version, COORDINATES.names, KEYS)
        return None if rows is None else group_coordinates(rows)

    def inside(self, window: TimeWindow) -> RunsByPlace:
        """The offsets of the rows in a time window. Raises TableRefused or CommitUnknown."""
        with reading(self.uri):
            return {} if self._table is None else rows_inside(self._table, window)

    def outside(self, window: TimeWindow, scope: OffsetScope) -> RunsByPlace:
        """The offsets, among those of the scope, of the rows outside it. Raises as `inside`."""
        with reading(self.uri):
            return {} if self._table is None else rows_outside(self._table, window, scope)

    def _where(self, columns: Sequence[str], wanted: Sequence[Condition]) -> pa.Table:
        if self._table is None:
            return _no_rows(columns)
        return rows_where(self._table, columns, wanted)

    def _written_by(self, batch: Batch, version: int) -> StoredCoordinates:
        """The batch's rows in the files of its commit, which may also hold rows it only moved."""
        assert self._table is not None, "a commit without a table"
        files = files_named(self._table, written_files(self._table, version))
        rows = read_files(self._table, files, COORDINATES.names)
        mine = rows.filter(pc.equal(rows["_batch"], str(batch)))
        nulls = any(column.null_count for column in mine.columns)
        if len(rows) and (rows["_batch"].null_count == len(rows) or nulls):
            raise TableRefused(
                f"{self.uri}: version {version}: expected the coordinates of batch {batch} in its"
                " files, found nulls."
            )
        return group_coordinates(mine)

    def _transaction(self, app_id: str) -> int:
        """The version of a transaction id; 0 where it has none. Raises CommitUnknown.

        Delta-rs reads the log from the last checkpoint on for each such question.
        """
        if self._table is None:
            return 0
        if app_id not in self._transactions:
            with reading(self.uri):
                self._transactions[app_id] = self._table.transaction_version(app_id) or 0
        return self._transactions[app_id]

    def _require_owner(self, pipeline: str) -> None:
        assert self._table is not None
        if owner_of(self._table) is None:
            # A foreign commit explains more, if the table's log still holds it.
            self.log.require_no_foreign_commits(pipeline)
        require_owner(self.uri, self._table, pipeline, if_a_copy(self.uri, pipeline))


def _no_rows(columns: Sequence[str]) -> pa.Table:
    known = COORDINATES.empty_table()
    return pa.table({e: known[e] if e in known.column_names else pa.nulls(0) for e in columns})
