"""Ages: how old a table's commits are, and how long it keeps files that it no longer names."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from deltalake import DeltaTable
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import FileType, PyFileSystem

from sluice.planning.retention import PROPERTY, retention


def retention_of(uri: str) -> timedelta:
    """The table's retention. Raises SettingsError where it is too short."""
    return retention(uri, DeltaTable(uri).metadata().configuration.get(PROPERTY))


def older_than(uri: str, versions: Iterable[int], moment: datetime) -> frozenset[int]:
    """Those of the versions that were committed before a moment; a cleaned-up log is older."""
    wanted = sorted(set(versions))
    if not wanted:
        return frozenset()
    files = PyFileSystem(DeltaStorageHandler(DeltaTable(uri).table_uri))
    found = files.get_file_info([f"_delta_log/{version:020d}.json" for version in wanted])
    return frozenset(
        version
        for version, file in zip(wanted, found, strict=True)
        if file.type == FileType.NotFound or file.mtime < moment
    )
