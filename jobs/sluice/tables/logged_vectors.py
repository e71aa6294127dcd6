"""Logged vectors: the deletion vectors of a table's files, by its log.

delta-rs tells them too, but not of a table with type widening (1.6).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyarrow.fs import FileSelector, PyFileSystem

from sluice.tables.table_files import files_of_table

Vectors = dict[str, Mapping[str, Any] | None]
"""Files by their names, which no other file has, with their deletion vector, if they have one."""

_ACTIONS = (b'{"add":', b'{"sidecar":')
# A checkpoint of one file, of several parts, or with sidecars (Delta's PROTOCOL.md, Checkpoints).
_CHECKPOINT = re.compile(
    r"(\d{20})\.checkpoint(?:\.\d{10}\.(\d{10})|\.[0-9a-f-]{36})?\.(?:parquet|json)"
)


def logged_vectors(table: DeltaTable, names: Collection[str]) -> Mapping[str, Mapping[str, Any]]:
    """The vectors of these files, which the table has, at its version.

    Raises FileNotFoundError where its log has lost a commit meanwhile.
    """
    files = files_of_table(table.table_uri)
    base, paths = _newest_checkpoint(files, table.version())
    found: Vectors = {}
    for version in range(table.version(), base, -1):
        if found.keys() >= {*names}:
            break
        for name, vector in _in_json(files, f"_delta_log/{version:020d}.json"):
            found.setdefault(name, vector)
    if not found.keys() >= {*names}:
        for path in paths:
            for name, vector in _in_checkpoint(files, path):
                found.setdefault(name, vector)
    if lost := sorted({*names} - found.keys()):
        raise FileNotFoundError(f"{table.table_uri}: the log no longer names {lost[0]}")
    return {name: each for name, each in found.items() if each is not None and name in names}


def _newest_checkpoint(files: PyFileSystem, version: int) -> tuple[int, list[str]]:
    """The newest complete checkpoint up to a version, and its files; -1 where there is none."""
    there: dict[tuple[int, int, str], list[str]] = {}
    for each in files.get_file_info(FileSelector("_delta_log")):
        if (named := _CHECKPOINT.fullmatch(each.base_name)) and int(named[1]) <= version:
            one = "" if named[2] else each.base_name
            there.setdefault((int(named[1]), int(named[2] or 1), one), []).append(each.path)
    whole = [key for key, paths in there.items() if len(paths) == key[1]]
    return (max(whole)[0], there[max(whole)]) if whole else (-1, [])


def _in_json(files: PyFileSystem, path: str) -> Iterator[tuple[str, Mapping[str, Any] | None]]:
    with files.open_input_stream(path) as stream:
        lines = stream.read().splitlines()
    for action in (json.loads(line) for line in lines if line.startswith(_ACTIONS)):
        yield from _told(files, action)


def _in_checkpoint(
    files: PyFileSystem, path: str
) -> Iterator[tuple[str, Mapping[str, Any] | None]]:
    if path.endswith(".json"):
        yield from _in_json(files, path)
        return
    with files.open_input_file(path) as file:
        stored = pq.ParquetFile(file)
        kinds = ("add.path", "add.deletionVector", "sidecar.path")
        rows = stored.read(columns=list(kinds)).to_pylist()
    for row in rows:
        yield from _told(files, {kind: each for kind, each in row.items() if each})


def _told(
    files: PyFileSystem, action: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any] | None]]:
    if (sidecar := action.get("sidecar")) and sidecar["path"]:
        name = unquote(sidecar["path"]).rpartition("/")[2]
        yield from _in_checkpoint(files, f"_delta_log/_sidecars/{name}")
    if (add := action.get("add")) and add["path"]:
        vector = add.get("deletionVector")
        named = vector if vector and vector["storageType"] else None
        yield unquote(add["path"]).rpartition("/")[2], named
