"""Commits of any Delta table, with the transaction ids they carry."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from pyarrow.fs import FileSelector, PyFileSystem

from sluice.errors import SettingsError
from sluice.tables.foreign_commits import RESTORE, TRANSACTION_RETENTION, UNKNOWN, TableCommit
from sluice.tables.logged_files import LoggedFile, logged_file
from sluice.tables.table_files import answered, files_of_table, open_table

# Most lines of a commit; not needed here.
_ADD = b'{"add":'
FILES = (_ADD, b'{"remove":')
"""How the lines of a commit begin that name data files."""
# In the user metadata of our own commits, of which few are read again, and each may be large.
_OURS = '"sluice"'
_KEPT, _TOLD = {"commitInfo", "txn"}, {"operation", "operationParameters", "timestamp"}


Actions = list[dict[str, Any]]
OthersCommits = dict[int, Actions]
"""What was read of commits that are not ours, by version: there may be very many of them.

Who keeps it drops it when the table's log is another one.
"""


def commits_after(
    table: DeltaTable, version: int, known: OthersCommits | None = None
) -> list[TableCommit]:
    """The commits above a version, oldest first, without those that log cleanup removed."""
    if version >= table.version():
        return []
    read, found = _reader(table, known), []
    for number in range(table.version(), version, -1):
        # Log cleanup removes the oldest: below a missing one there are no others.
        if (actions := read(number)) is None:
            break
        found.append(_commit(table, number, actions))
    return found[::-1]


def commits_back(table: DeltaTable) -> Iterator[tuple[TableCommit, Mapping[str, int]]]:
    """Each commit with the versions of its transaction ids, newest first, as `commit_infos`."""
    files = files_of_table(table.table_uri)
    for version in range(table.version(), -1, -1):
        if (actions := _read(files, version)) is None:
            return
        ids = {each["txn"]["appId"]: each["txn"]["version"] for each in actions if "txn" in each}
        yield _commit(table, version, actions), ids


def commit_infos(
    table: DeltaTable, known: OthersCommits | None = None
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each commit's version and commitInfo, newest first, back to where log cleanup has been.

    Not from DeltaTable.history(): that lists the commits that storage holds by now, and counts
    their versions down from the version of the handle (delta-rs 1.6).
    """
    read = _reader(table, known)
    for version in range(table.version(), -1, -1):
        actions = read(version)
        if actions is None:
            return
        yield version, info_of(actions)


def commit_info(table: DeltaTable, version: int) -> Mapping[str, Any] | None:
    """The commitInfo of one version; None where the log has lost that."""
    actions = _read(files_of_table(table.table_uri), version)
    return None if actions is None else info_of(actions)


def written_files(table: DeltaTable, version: int) -> list[LoggedFile]:
    """The data files that a commit wrote.

    A file that it adds with a deletion vector was there before, and only lost rows.
    """
    lines = commit_lines(files_of_table(table.table_uri), version) or []
    added = (json.loads(line)["add"] for line in lines if line.startswith(_ADD))
    return [logged_file(x) for x in added if not x.get("deletionVector")]


def newest_file(uri: str) -> str:
    """A data file of a table's newest commit: no other table, and no older copy, has its name.

    The table's folder where that commit wrote none. Raises what `open_table` does.
    """
    table = open_table(uri)
    written = written_files(table, table.version())
    return f"{uri}/{unquote(written[0].path)}" if written else uri


def _reader(table: DeltaTable, known: OthersCommits | None) -> Callable[[int], Actions | None]:
    """Reads a commit of a table, unless it is known."""
    files, known = files_of_table(table.table_uri), {} if known is None else known

    def read(version: int) -> Actions | None:
        if version in known:
            return known[version]
        actions = _read(files, version)
        if actions is not None and _OURS not in (info_of(actions).get("userMetadata") or ""):
            known[version] = [_briefly(each) for each in actions if each.keys() & _KEPT]
        return actions

    return read


def _briefly(action: dict[str, Any]) -> dict[str, Any]:
    """An action without the remarks of other writers, which are not used here."""
    info = action.get("commitInfo")
    return action if info is None else {"commitInfo": {k: info[k] for k in _TOLD & info.keys()}}


def _read(files: PyFileSystem, version: int) -> Actions | None:
    lines = commit_lines(files, version)
    if lines is None:
        return None
    return [json.loads(line) for line in lines if not line.startswith(FILES)]


def commit_lines(files: PyFileSystem, version: int) -> list[bytes] | None:
    """The lines of a version's commit; None where log cleanup has removed it."""
    # DeltaTable.history() has no transaction ids; the log's files do.
    try:
        with files.open_input_stream(f"_delta_log/{version:020d}.json") as stream:
            lines: list[bytes] = stream.read().splitlines()
    except FileNotFoundError:
        return None
    return lines


def _commit(table: DeltaTable, version: int, actions: Actions) -> TableCommit:
    info = info_of(actions)
    operation = info.get("operation", "commit without a name")
    restored = None
    if operation == RESTORE:
        restored = _restored(table, version, info.get("operationParameters") or {})
    named = [each["txn"] for each in actions if "txn" in each]
    writers = tuple(each["appId"] for each in named)
    numbers = tuple(each["version"] for each in named)
    return TableCommit(version, operation, restored, writers, numbers)


def info_of(actions: Actions) -> dict[str, Any]:
    return next((each["commitInfo"] for each in actions if "commitInfo" in each), {})


def written_at(info: Mapping[str, Any]) -> datetime | None:
    """When a commit was made, by the writer's clock; None where its commitInfo does not say."""
    milliseconds = info.get("timestamp")
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)


def _restored(table: DeltaTable, version: int, parameters: dict[str, Any]) -> int:
    stated = parameters.get("version")
    if stated not in (None, "", "null"):
        return int(stated)
    # Restored by timestamp: find the newest older version with exactly the same files.
    try:
        now = _files(table, version)
        return next(each for each in range(version - 1, -1, -1) if _files(table, each) == now)
    except (DeltaError, StopIteration):
        return UNKNOWN


def _files(table: DeltaTable, version: int) -> set[str]:
    return set(open_table(table.table_uri, version).file_uris())


# A checkpoint of one file or of several parts (Delta's PROTOCOL.md, Checkpoints).
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.\d{10}\.(\d{10}))?\.parquet")


def transaction_versions(uri: str) -> Mapping[str, int]:
    """The newest version of every transaction id, read-only.

    Raises SettingsError where there is no table, or where the ids do not show what it holds; as
    `answered` where its store does not answer.
    """
    try:
        with answered(uri):
            table = DeltaTable(uri)
            if TRANSACTION_RETENTION in table.metadata().configuration:
                raise SettingsError(
                    f"{uri}: expected no property {TRANSACTION_RETENTION}, which makes Delta forget"
                    " transactions. Say where to start with `start: {offsets: …}`."
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
    # delta-rs returns the version of a given id; only the log lists the ids.
    version, names = _checkpoint(table)
    commits = commits_after(table, version)
    if len(commits) < table.version() - version:
        raise SettingsError(
            f"{table.table_uri}: expected every commit after a checkpoint, or from the first on,"
            " found a log with holes. Say where to start with `start: {offsets: …}`."
        )
    for commit in commits:
        if commit.restored is not None:
            raise SettingsError(
                # RESTORE does not revert transaction ids (delta-io/delta issue 1813).
                f"{table.table_uri}: version {commit.version} is a RESTORE, which keeps the"
                " transactions although rows are gone. Say where to start with"
                " `start: {offsets: …}`."
            )
        names |= set(commit.writers)
    return names


def _checkpoint(table: DeltaTable) -> tuple[int, set[str]]:
    """The version of the newest complete checkpoint, and its ids; -1 where there is none."""
    files = files_of_table(table.table_uri)
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
