"""Removed rows: what one version of a Delta table took away, from the files that it replaced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.dataset as pads
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from sluice.tables.table_rows import dataset


def removed_rows(
    uri: str, version: int, columns: Sequence[str], keys: Sequence[str]
) -> pa.Table | None:
    """Columns of the rows before the version whose keys it did not only move, or change elsewhere.

    None where the version's log or the files of the one before are gone: cleaned up or vacuumed.
    """
    try:
        before, after = (dataset(DeltaTable(uri, version=each)) for each in (version - 1, version))
        old = {each.path: each for each in before.get_fragments()}
        new = {each.path: each for each in after.get_fragments()}
        removed = _rows(before, (old[path] for path in old.keys() - new.keys()), columns)
        added = _rows(after, (new[path] for path in new.keys() - old.keys()), columns)
    except (DeltaError, FileNotFoundError):
        return None
    return removed.join(added.select(keys), list(keys), join_type="left anti")


def _rows(table: pads.Dataset, files: Iterable[pads.Fragment], columns: Sequence[str]) -> pa.Table:
    part = pads.FileSystemDataset(list(files), table.schema, table.format, table.filesystem)
    return part.to_table(columns=list(columns))
