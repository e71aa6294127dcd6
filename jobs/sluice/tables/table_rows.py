"""Rows of the data and quarantine tables, read with delta-rs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.dataset as pads
from deltalake import DeltaTable


def read_rows(uri: str, columns: Sequence[str], offsets: Collection[int] | None = None) -> pa.Table:
    """Some columns of a table's rows, or of those with one of these offsets, of any partition.

    The log's statistics leave out the files of other offsets.
    """
    rows = DeltaTable(uri).to_pyarrow_dataset()
    wanted = None
    if offsets is not None:
        if not offsets:
            return rows.schema.empty_table().select(list(columns))
        within = (pads.field("_offset") >= min(offsets)) & (pads.field("_offset") <= max(offsets))
        wanted = within & pads.field("_offset").isin(list(offsets))
    return rows.to_table(columns=list(columns), filter=wanted)
