"""The commits of a Delta table's log, one by one, with the transaction ids that they carry."""

from __future__ import annotations

import json
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import PyFileSystem

from sluice.errors import TableRefused
from sluice.planning.alterations import RESTORE, TableCommit

# The most of a commit, and nothing that is asked for here.
_ROWS = (b'{"add":', b'{"remove":')


def commits_after(table: DeltaTable, version: int) -> list[TableCommit]:
    """The commits above a version, the oldest first, without those that log cleanup removed."""
    if version >= table.version():
        return []
    files = PyFileSystem(DeltaStorageHandler(table.table_uri))
    return [
        _commit(table, number, actions)
        for number in range(version + 1, table.version() + 1)
        if (actions := _read(files, number)) is not None
    ]


def _read(files: PyFileSystem, version: int) -> list[dict[str, Any]] | None:
    # DeltaTable.history() has no transaction ids: the log's own files do.
    try:
        with files.open_input_stream(f"_delta_log/{version:020d}.json") as stream:
            lines = stream.read().splitlines()
    except FileNotFoundError:
        return None
    return [json.loads(line) for line in lines if not line.startswith(_ROWS)]


def _commit(table: DeltaTable, version: int, actions: list[dict[str, Any]]) -> TableCommit:
    info: dict[str, Any] = next(
        (each["commitInfo"] for each in actions if "commitInfo" in each), {}
    )
    operation = info.get("operation", "commit without a name")
    restored = None
    if operation == RESTORE:
        restored = _restored(table, version, info.get("operationParameters") or {})
    writers = tuple(each["txn"]["appId"] for each in actions if "txn" in each)
    return TableCommit(version, operation, restored, writers)


def _restored(table: DeltaTable, version: int, parameters: dict[str, Any]) -> int:
    stated = parameters.get("version")
    if stated not in (None, "", "null"):
        return int(stated)
    # Restored by timestamp: the newest older version with the very same files.
    try:
        now = _files(table, version)
        return next(each for each in range(version - 1, -1, -1) if _files(table, each) == now)
    except (DeltaError, StopIteration):
        raise TableRefused(
            f"{table.table_uri}: version {version} is a RESTORE to a version that the table's log"
            " no longer holds, so that what it undid cannot be told. RESTORE the table to version"
            f" {version - 1}."
        ) from None


def _files(table: DeltaTable, version: int) -> set[str]:
    return set(DeltaTable(table.table_uri, version=version).file_uris())
