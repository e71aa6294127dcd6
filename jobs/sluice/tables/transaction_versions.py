"""The transaction ids of any Delta table, with their versions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import FileSelector, PyFileSystem

from sluice.errors import SettingsError
from sluice.planning.alterations import FORGETTING
from sluice.tables.table_commits import commits_after

# Of one file, or of several parts.
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.\d{10}\.(\d{10}))?\.parquet")


def transaction_versions(uri: str) -> Mapping[str, int]:
    """The newest version of every transaction id, read only.

    Raises SettingsError where there is no table, or where its versions do not tell what it holds.
    """
    try:
        table = DeltaTable(uri)
        if FORGETTING in table.metadata().configuration:
            raise SettingsError(
                f"{uri}: expected no property {FORGETTING}, which makes Delta forget transactions."
                " Say where to start with `start: {offsets: …}`."
            )
        found = {name: table.transaction_version(name) for name in _names(table)}
    except TableNotFoundError:
        raise SettingsError(
            f"{uri}: expected a Delta table, found none. Correct `table`."
        ) from None
    except (DeltaError, OSError) as problem:
        raise SettingsError(f"{uri}: its log cannot be read: {problem}. Correct it.") from problem
    return {name: version for name, version in found.items() if version is not None}


def _names(table: DeltaTable) -> set[str]:
    # delta-rs tells the version of an id that is asked for; which ids there are, only the log does.
    version, names = _checkpoint(table)
    commits = commits_after(table, version)
    if len(commits) < table.version() - version:
        raise SettingsError(
            f"{table.table_uri}: expected every commit behind a checkpoint, or from the first on,"
            " found a log with holes. Say where to start with `start: {offsets: …}`."
        )
    for commit in commits:
        if commit.restored is not None:
            raise SettingsError(
                f"{table.table_uri}: version {commit.version} is a RESTORE, which keeps the"
                " transactions although rows are gone. Say where to start with"
                " `start: {offsets: …}`."
            )
        names |= set(commit.writers)
    return names


def _checkpoint(table: DeltaTable) -> tuple[int, set[str]]:
    """The version of the newest whole checkpoint, and the ids in it; -1 where there is none."""
    files = PyFileSystem(DeltaStorageHandler(table.table_uri))
    there: dict[int, dict[str, int]] = {}
    for each in files.get_file_info(FileSelector("_delta_log")):
        if (found := _CHECKPOINT.fullmatch(each.base_name)) and int(found[1]) <= table.version():
            there.setdefault(int(found[1]), {})[each.path] = int(found[2] or 1)
    whole = [version for version, paths in there.items() if len(paths) >= max(paths.values())]
    if not whole:
        return -1, set()
    newest = max(whole)
    return newest, {name for path in there[newest] for name in _written_in(files, path)}


def _written_in(files: PyFileSystem, path: str) -> Iterator[str]:
    with files.open_input_file(path) as file:
        rows = pq.ParquetFile(file).read(columns=["txn"])["txn"].to_pylist()
    yield from (row["appId"] for row in rows if row and row["appId"])
