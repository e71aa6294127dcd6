"""Rows of the data and quarantine tables, read with delta-rs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.dataset as pads
from deltalake import DeltaTable
from deltalake.exceptions import DeltaProtocolError

from sluice.errors import TableRefused


def dataset(table: DeltaTable) -> pads.Dataset:
    """The rows of a table. Raises TableRefused where it has a feature that delta-rs cannot read."""
    try:
        return table.to_pyarrow_dataset()
    except DeltaProtocolError as problem:
        raise TableRefused(
            f"{table.table_uri}: expected table features that delta-rs reads, found others:"
            f" {problem}. ALTER TABLE … DROP FEATURE takes one away; then run again."
        ) from problem


def read_rows(uri: str, columns: Sequence[str], offsets: Collection[int] | None = None) -> pa.Table:
    """Some columns of a table's rows, or of those with one of these offsets, of any partition.

    The log's statistics leave out the files of other offsets.
    """
    rows = dataset(DeltaTable(uri))
    wanted = None
    if offsets is not None:
        if not offsets:
            return rows.schema.empty_table().select(list(columns))
        within = (pads.field("_offset") >= min(offsets)) & (pads.field("_offset") <= max(offsets))
        wanted = within & pads.field("_offset").isin(list(offsets))
    return rows.to_table(columns=list(columns), filter=wanted)
