"""Rows of the data and quarantine tables, read with delta-rs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, DeltaProtocolError

from sluice.errors import TableRefused

# Column, operator, value: delta-rs and pyarrow share this form.
Condition = tuple[str, str, Any]


def dataset(table: DeltaTable, wanted: Sequence[Condition] = ()) -> pads.Dataset:
    """The files of a table that may have rows of these conditions, by their statistics.

    Raises TableRefused where the table has a feature that delta-rs cannot read.
    """
    try:
        return table.to_pyarrow_dataset(file_pruning_predicate=list(wanted) or None)
    except DeltaProtocolError as problem:
        raise TableRefused(
            f"{table.table_uri}: expected table features that delta-rs reads, found others:"
            f" {problem}. Remove the feature with ALTER TABLE … DROP FEATURE; then run again."
        ) from problem


def removed_rows(
    uri: str, version: int, columns: Sequence[str], keys: Sequence[str]
) -> pa.Table | None:
    """Columns of the rows that a version deleted; rows it only rewrote, by key, are left out.

    None where the version's log or the previous version's files are gone: cleaned up or vacuumed.
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
