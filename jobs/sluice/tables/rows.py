"""Rows of the data and quarantine tables, read without a JVM."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from sluice.tables.data_files import Condition, files_of, read_files
from sluice.tables.table_files import open_table


def rows_where(
    table: DeltaTable, columns: Sequence[str], wanted: Sequence[Condition] = ()
) -> pa.Table:
    """Columns of the rows that meet the conditions; statistics skip the files of others."""
    return read_files(table, files_of(table, wanted), columns, wanted)


def removed_rows(
    uri: str, version: int, columns: Sequence[str], keys: Sequence[str]
) -> pa.Table | None:
    """Columns of the rows that a version deleted; rows it only rewrote, by key, are left out.

    None where the version's log or the previous version's files are gone: cleaned up or vacuumed.
    """
    try:
        before, after = (open_table(uri, each) for each in (version - 1, version))
        old, new = {*files_of(before)}, {*files_of(after)}
        # A file whose deletion vector has changed is in both, and differs.
        removed, added = (
            read_files(before, old - new, columns),
            read_files(after, new - old, columns),
        )
    except (DeltaError, FileNotFoundError):
        return None
    return removed.join(added.select(keys), list(keys), join_type="left anti")
