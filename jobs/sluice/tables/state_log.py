"""The log of a state table, read with delta-rs: where it stands, and who wrote to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from deltalake import DeltaTable, Transaction
from pyarrow.fs import PyFileSystem

from sluice.columns.columns import Column
from sluice.errors import CommitConflict, StateRefused
from sluice.moves import Move
from sluice.state_table.collected import COLLECTED, Collected
from sluice.state_table.commits import REBUILDING, StateCollection, StateCommit, app_id
from sluice.state_table.rules import StateRules
from sluice.state_table.standing import FoundState, StateVersion
from sluice.tables.commits import FILES, commit_lines, info_of, written_at
from sluice.tables.empty_commit import commit_only_ids
from sluice.tables.log_changes import columns_at
from sluice.tables.ownership import owner_of
from sluice.tables.refusals import reading_state
from sluice.tables.stored_columns import stored_columns
from sluice.tables.table_files import files_of_table
from sluice.tables.table_size import TableSize, size_of
from sluice.tables.table_there import table_there

_MOVES = b'"dataChange":false'


class StateLog:
    """The log of a pipeline's state table."""

    def __init__(self, uri: str, pipeline: str) -> None:
        self.uri = uri
        self._pipeline = pipeline

    def snapshot(self) -> StateSnapshot:
        """The table as it is now. Raises CommitUnknown where its log is unreadable."""
        with reading_state(self.uri, self._pipeline):
            table = table_there(self.uri)
        return StateSnapshot(self.uri, self._pipeline, table)


class StateSnapshot:
    """A state table at one version; everything is empty where there is no table yet."""

    def __init__(self, uri: str, pipeline: str, table: DeltaTable | None) -> None:
        self.uri = uri
        self._pipeline = pipeline
        self._app_id = app_id(pipeline)
        self._table = table

    @property
    def version(self) -> int | None:
        """The table's version; None while there is no table."""
        return None if self._table is None else int(self._table.version())

    @property
    def table_id(self) -> str | None:
        """The table's Delta id; None while there is no table."""
        return None if self._table is None else str(self._table.metadata().id)

    @property
    def owner(self) -> str | None:
        """The pipeline that it says it belongs to."""
        return None if self._table is None else owner_of(self._table)

    @property
    def collected(self) -> Collected:
        """Below which offsets deleted rows may have left it. Raises StateRefused."""
        if self._table is None:
            return Collected()
        text = self._table.metadata().configuration.get(COLLECTED)
        try:
            return Collected.read(text)
        except ValueError:
            raise StateRefused(
                f"{self.uri}: {COLLECTED}: expected offsets by topic id, found {text!r}. ALTER"
                f" TABLE delta.`{self.uri}` UNSET TBLPROPERTIES ('{COLLECTED}'); then ",
                Move("rebuild", (self._pipeline, "--execute")),
                " makes it anew from the data table.",
            ) from None

    @property
    def columns(self) -> tuple[Column, ...]:
        """The table's columns; none where there is no table yet."""
        return () if self._table is None else stored_columns(self._table)

    @property
    def stands_at(self) -> int | None:
        """The version of the log that it stands at, by its transaction id; None where it has none.

        This is the commit rule: nothing else decides.
        """
        if self._table is None:
            return None
        with reading_state(self.uri, self._pipeline):
            found = self._table.transaction_version(self._app_id)
        return None if found is None else int(found)

    def require_at(self, after: int) -> None:
        """Raises CommitConflict where it does not stand at that version of the log.

        Asked right before a MERGE, which sees only what is committed while it runs.
        """
        if self.stands_at != after:
            raise CommitConflict("another refresh has come in between")

    def found(self, rules: StateRules) -> FoundState | None:
        """What is to be judged of it; None while there is no table."""
        if self._table is None:
            return None
        found = FoundState(
            str(self.table_id),
            int(self._table.version()),
            self.stands_at,
            rules.digest(self.columns),
            tuple(self._versions()),
        )
        ours = next((each for each in found.versions if each.commit is not None), None)
        if ours is None or ours.commit is None or ours.commit.digest == found.digest:
            return found
        with suppress(FileNotFoundError):
            then = rules.digest(columns_at(self.uri, ours.version))
            return replace(found, digest_then=then)
        return found

    def _versions(self) -> Iterator[StateVersion]:
        """The newest versions, back to those that were judged before the newest commit of ours.

        Also what came between a commit that wrote all anew and the version that it is based on:
        rows that others added meanwhile stay beside it.
        """
        judged, is_whole = -1, False
        for found in self.versions():
            if is_whole and found.version <= judged:
                return
            yield found
            if found.stands_at is not None and found.version <= judged:
                return
            # A commit may be based on a later version of a table that is gone: the one before it
            # shows that.
            if found.commit is not None:
                judged = max(judged, found.commit.state_version or -1)
            is_whole = is_whole or _is_whole(found)

    def versions(self, above: int = -1) -> Iterator[StateVersion]:
        """The versions above one, newest first, as far back as the log goes."""
        if self._table is None:
            return
        files = files_of_table(self.uri)
        for version in range(self._table.version(), above, -1):
            found = _version(files, version, self._app_id)
            if found is None:
                return
            yield found

    def commits(self, above: int) -> Iterator[StateVersion]:
        """Our commits of the versions above one, newest first, back to one that wrote all anew."""
        for found in self.versions(above):
            if found.commit is not None:
                yield found
            if _is_whole(found):
                return

    def advance(self, commit: StateCommit, now: datetime) -> None:
        """Say in an empty commit that the table stands at a later version of the log.

        Raises CommitConflict where another process has said so since.
        """
        self._commit(commit.data_version, now, commit.text)

    def begin_rebuild(self, now: datetime) -> None:
        """Say in an empty commit that the table stands at no version, while it is built anew.

        Raises as `advance`.
        """
        self._commit(REBUILDING, now, None)

    def _commit(self, version: int, now: datetime, told: str | None) -> None:
        assert self._table is not None, "the caller has found it"
        moment = int(now.timestamp() * 1000)
        commit_only_ids(self._table, [Transaction(self._app_id, version, moment)], now, told)

    @property
    def size(self) -> TableSize:
        """Its rows and bytes."""
        return TableSize() if self._table is None else size_of(self._table)


def _is_whole(found: StateVersion) -> bool:
    """Whether the version wrote all rows anew."""
    return found.commit is not None and found.commit.kind == "everything"


def _version(files: PyFileSystem, version: int, wanted: str) -> StateVersion | None:
    """A version by its commit; None where log cleanup has removed that."""
    lines = commit_lines(files, version)
    if lines is None:
        return None
    changes = any(line.startswith(FILES) and _MOVES not in line for line in lines)
    actions = [json.loads(line) for line in lines if not line.startswith(FILES)]
    info = info_of(actions)
    ids = {each["txn"]["appId"]: each["txn"]["version"] for each in actions if "txn" in each}
    told, operation = info.get("userMetadata"), info.get("operation", "commit without a name")
    ours = StateCommit.read(told) if wanted in ids else None
    collection = None if ids else StateCollection.read(told)
    by_id = ids.get(wanted), ours, collection
    return StateVersion(version, operation, changes, *by_id, written_at(info))
