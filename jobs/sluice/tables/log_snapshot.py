"""A table's log at one version: its commits, and what each says of its batch."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from deltalake import DeltaTable

from sluice.offsets.batches import Batch
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.spec_edition import SpecEdition
from sluice.tables.batch_commits import (
    BatchCommit,
    LoggedBatch,
    attempt_of,
    batch_of,
    edition_of,
    fingerprints_of,
    logged_batch,
    named_ranges,
)
from sluice.tables.commits import commit_infos, commits_after
from sluice.tables.foreign_commits import TableCommit, require_no_foreign_commits


class LogSnapshot:
    """The log of a table up to one version; empty where there is no table yet."""

    def __init__(self, uri: str, table: DeltaTable | None) -> None:
        self.uri = uri
        self._table = table
        self._known_above: int | None = None

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

    def require_known_format(self, since: int = -1) -> None:
        """Raises NewerFormat where a commit above a version is a newer Sluice's."""
        if self._table is None or self._table.version() <= since:
            return
        if self._known_above is not None and self._known_above <= since:
            return
        for version, commit in commit_infos(self._table):
            if version <= since:
                break
            batch_of(commit)
        self._known_above = since

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

    def commits(self, above: int = -1) -> list[TableCommit]:
        """Every commit above a version that the log still holds, unjudged."""
        return [] if self._table is None else commits_after(self._table, above)

    def logged_batches(self) -> list[LoggedBatch]:
        """The batches whose commits the log still holds, newest first."""
        if self._table is None:
            return []
        found = (logged_batch(*each) for each in commit_infos(self._table))
        return [each for each in found if each is not None]

    def newest_edition(self) -> tuple[str, SpecEdition] | None:
        """The newest batch's name, and what of the spec decided its rows.

        None where there is no batch, or its commit does not say.
        """
        if self._table is None:
            return None
        for version, commit in commit_infos(self._table):
            if newest := logged_batch(version, commit):
                edition = edition_of(commit)
                return None if edition is None else (newest.name, edition)
        return None

    def commit_of(self, batch: Batch) -> BatchCommit | None:
        """The commit of a committed batch; None when the log has lost it."""
        found = self._find(batch)
        if found is None:
            return None
        version, commit = found
        rows = int(commit.get("operationMetrics", {}).get("numOutputRows", 0))
        ranges = frozenset(named_ranges(commit))
        return BatchCommit(version, rows, attempt_of(commit), ranges, edition_of(commit))

    def committed_at(self, batch: Batch) -> datetime | None:
        """When a batch was committed, by the writer's clock; None when the log has lost it."""
        found = self._find(batch)
        milliseconds = found[1].get("timestamp") if found else None
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)

    def landed_in(self, batch: Batch) -> int:
        """The version a committed batch landed in; the last one lost if the log has lost that.

        The latest that it can be, so that a RESTORE between the two counts as having undone it.
        """
        found = self.commit_of(batch)
        return self.last_lost if found is None else found.version

    @property
    def last_lost(self) -> int:
        """The newest version whose commit is no longer in the log; -1 where all are there."""
        if self._table is None:
            return -1
        oldest = int(self._table.version()) + 1
        for version, _ in commit_infos(self._table):
            oldest = version
        return oldest - 1

    def fingerprints(self, batch: Batch) -> Mapping[TopicPartition, str]:
        """The known fingerprints of a batch's commit; none when the log has lost the commit."""
        found = self._find(batch)
        return {} if found is None else fingerprints_of(found[1])

    def _find(self, batch: Batch) -> tuple[int, Mapping[str, Any]] | None:
        """The version and commitInfo of a batch; nearly always among the newest few."""
        if self._table is None:
            return None
        mine = (batch.sequence.app_id, batch.number)
        return next((each for each in commit_infos(self._table) if batch_of(each[1]) == mine), None)
