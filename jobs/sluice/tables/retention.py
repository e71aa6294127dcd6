"""Retention: how long a table keeps files that it no longer references. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from pyarrow.fs import FileType

from sluice.errors import SettingsError
from sluice.settings import LONGEST_RUN
from sluice.spec_file.intervals import read_interval
from sluice.tables.table_files import files_of_table, open_table

PROPERTY = "delta.deletedFileRetentionDuration"
DEFAULT = timedelta(days=7)


def retention(table: str, written: str | None) -> timedelta:
    """A table's retention from its property. Raises SettingsError where VACUUM is not safe.

    Readers, RESTORE and running ingests rely on it: it is never shortened here.
    """
    found = DEFAULT if written is None else _parsed(table, written)
    if found < LONGEST_RUN:
        hours = LONGEST_RUN // timedelta(hours=1)
        raise SettingsError(
            f"{table}: {PROPERTY}: expected at least {hours} hours, as long as a run may last,"
            f" found {written!r}: VACUUM would delete what a run has just written."
            f" ALTER TABLE … SET TBLPROPERTIES ('{PROPERTY}' = 'interval 7 days')."
        )
    return found


def _parsed(table: str, written: str) -> timedelta:
    found = read_interval(written)
    if found is None:
        raise SettingsError(
            f"{table}: {PROPERTY}: expected an interval such as 'interval 7 days', found"
            f" {written!r}. ALTER TABLE … SET TBLPROPERTIES ('{PROPERTY}' = 'interval 7 days')."
        )
    return found


def retention_of(uri: str) -> timedelta:
    """The table's retention. Raises SettingsError where it is too short."""
    return retention(uri, open_table(uri).metadata().configuration.get(PROPERTY))


def older_than(uri: str, versions: Iterable[int], moment: datetime) -> frozenset[int]:
    """The versions committed before a moment; versions that log cleanup removed count as older."""
    wanted = frozenset(versions)
    written = written_at(uri, wanted)
    return frozenset(each for each in wanted if each not in written or written[each] < moment)


def written_at(uri: str, versions: Iterable[int]) -> Mapping[int, datetime]:
    """When versions were committed, except those that log cleanup removed."""
    wanted = sorted(set(versions))
    if not wanted:
        return {}
    files = files_of_table(uri)
    found = files.get_file_info([f"_delta_log/{version:020d}.json" for version in wanted])
    return {
        version: file.mtime
        for version, file in zip(wanted, found, strict=True)
        if file.type != FileType.NotFound
    }
