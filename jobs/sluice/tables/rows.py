"""Rows of the data and quarantine tables, read without a JVM."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from sluice.tables.data_files import Condition, files_named, files_of, read_files
from sluice.tables.removed_files import changed_files
from sluice.tables.table_files import open_table


def rows_where(
    table: DeltaTable, columns: Sequence[str], wanted: Sequence[Condition] = ()
) -> pa.Table:
    """Columns of the rows that meet the conditions; statistics skip the files of others."""
    return read_files(table, files_of(table, wanted), columns, wanted)


def removed_rows(
    table: DeltaTable, version: int, columns: Sequence[str], keys: Sequence[str]
) -> pa.Table | None:
    """Columns of the rows that a version deleted; rows it only rewrote, by key, are left out.

    `table` may be at a later version: the commit itself names its files, so no other version is
    opened, unless it does not tell which rows went. None where the version's log or the previous
    version's files are gone: cleaned up or vacuumed.
    """
    uri = table.table_uri
    try:
        changed = changed_files(uri, version)
        if changed.tell_rows:
            removed = read_files(table, files_named(table, changed.removed), columns)
            new_files = files_named(table, changed.added) if changed.removed else []
            added = read_files(table, new_files, columns)
            told = [each.rows for each in changed.added if new_files and each.rows is not None]
            if len(told) == len(new_files) and sum(told) != len(added):
                # A file has lost rows since: they would count as deleted.
                return None
        else:
            before, after = (open_table(uri, each) for each in (version - 1, version))
            old, new = {*files_of(before)}, {*files_of(after)}
            # A file whose deletion vector has changed is in both, and differs.
            removed = read_files(before, old - new, columns)
            added = read_files(after, new - old, columns)
    except (DeltaError, FileNotFoundError):
        return None
    return removed.join(added.select(keys), list(keys), join_type="left anti")
