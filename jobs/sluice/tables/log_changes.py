"""Log changes: what each version did to a table's rows, by the files that its commit names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyarrow.fs import FileType

from sluice.columns.columns import Column
from sluice.state_table.spans import FileBounds, LogChange
from sluice.tables.commits import FILES, commit_lines
from sluice.tables.deletion_vectors import path_in_table
from sluice.tables.physical_columns import physical_field
from sluice.tables.stored_columns import stored_columns
from sluice.tables.table_files import files_of_table, open_table

_METADATA = b'{"metaData":'
_MAPPED = "delta.columnMapping.mode"


def log_changes(uri: str, after: int, upto: int) -> list[LogChange]:
    """The changes of the versions above one, up to another, oldest first.

    Raises FileNotFoundError where log cleanup has removed a commit.
    """
    mapped = _is_mapped(open_table(uri, upto))
    files, found = files_of_table(uri), []
    for version in range(after + 1, upto + 1):
        lines = commit_lines(files, version)
        if lines is None:
            raise FileNotFoundError(f"{uri}: version {version}")
        actions = [json.loads(line) for line in lines if line.startswith(FILES)]
        alters = any(line.startswith(_METADATA) for line in lines)
        found.append(replace(_change(version, actions, mapped), alters=alters))
    return found


def _change(version: int, actions: Iterable[Mapping[str, Any]], mapped: bool) -> LogChange:
    added, removed, moved = [], [], False
    known: int | None = 0
    gone = 0
    for action in actions:
        ((kind, file),) = action.items()
        if not file.get("dataChange", True):
            moved = True
            continue
        stats = json.loads(file.get("stats") or "{}")
        if kind == "remove":
            removed.append(FileBounds(file["path"], vector=_vector(file)))
            gone += stats.get("numRecords", 0)
        else:
            added.append(_bounds(file, {} if mapped else stats))
            count = stats.get("numRecords")
            known = None if count is None or known is None else known + count
    rows = None if known is None else max(known, gone)
    return LogChange(version, tuple(added), tuple(removed), rows, moved)


def _bounds(file: Mapping[str, Any], stats: Mapping[str, Any]) -> FileBounds:
    least, most = stats.get("minValues") or {}, stats.get("maxValues") or {}
    nulls, partition = stats.get("nullCount") or {}, file.get("partitionValues") or {}

    def of(name: str, kind: type) -> Any:
        low, high = (each.get(name, partition.get(name)) for each in (least, most))
        # Bounds do not cover nulls.
        return None if low is None or high is None or nulls.get(name) else (kind(low), kind(high))

    coordinates = of("_topic_id", str), of("_partition", int), of("_offset", int)
    return FileBounds(file["path"], *coordinates, _vector(file))


def _vector(file: Mapping[str, Any]) -> str | None:
    vector = file.get("deletionVector")
    return path_in_table(vector) if vector else None


def with_bounds(uri: str, version: int, files: Iterable[FileBounds]) -> tuple[FileBounds, ...]:
    """Files of a version with their bounds, as far as its log states them.

    Raises FileNotFoundError where the log has lost that version.
    """
    wanted = {unquote(each.path): each for each in files}
    found = dict(wanted)
    if wanted:
        actions = _table_at(uri, version).get_add_actions(flatten=True)
        for row in pa.table(actions).to_pylist():
            if (path := unquote(row["path"])) in wanted:
                found[path] = _flat_bounds(wanted[path], row)
    return tuple(found.values())


def _flat_bounds(file: FileBounds, row: Mapping[str, Any]) -> FileBounds:
    def of(name: str) -> Any:
        whole = row.get(f"partition.{name}")
        low, high = row.get(f"min.{name}", whole), row.get(f"max.{name}", whole)
        nulls = row.get(f"null_count.{name}")
        return None if low is None or high is None or nulls else (low, high)

    coordinates = of("_topic_id"), of("_partition"), of("_offset")
    return FileBounds(file.path, *coordinates, file.vector)


def missing_files(uri: str, files: Iterable[FileBounds]) -> Iterator[str]:
    """The paths of those files, and of their vectors, that the table's storage no longer has."""
    named = chain.from_iterable((unquote(each.path), each.vector) for each in files)
    paths = [each for each in named if each is not None]
    folder = files_of_table(uri)
    inside = [each for each in paths if not each.startswith("/") and "://" not in each]
    for each in folder.get_file_info(inside):
        if each.type is FileType.NotFound:
            yield each.path


def columns_at(uri: str, version: int) -> tuple[Column, ...]:
    """The columns that a table had at a version.

    Raises FileNotFoundError where the log has lost that version.
    """
    return stored_columns(_table_at(uri, version))


def has_replaced_columns(uri: str, after: int, upto: int) -> bool:
    """Whether a column has taken the place of another of its name, as column mapping lets it.

    Raises FileNotFoundError where the log has lost the earlier version.
    """
    if not _is_mapped(table := open_table(uri, upto)):
        return False
    before, now = (pa.schema(e.schema().to_arrow()) for e in (_table_at(uri, after), table))
    both = {*before.names} & {*now.names}
    return any(physical_field(before.field(e)) != physical_field(now.field(e)) for e in both)


def _is_mapped(table: DeltaTable) -> bool:
    return _MAPPED in table.metadata().configuration


def _table_at(uri: str, version: int) -> DeltaTable:
    try:
        return open_table(uri, version)
    except DeltaError as lost:
        raise FileNotFoundError(f"{uri}: version {version}") from lost
