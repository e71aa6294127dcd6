"""Table size: the rows and bytes of a table, as its log states them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from sluice.tables.table_files import answered


@dataclass(frozen=True)
class TableSize:
    """Rows, None where the log does not say how many; and the bytes of the files that hold them."""

    rows: int | None = 0
    size: int = 0


def size_of(table: DeltaTable) -> TableSize:
    """The size of a table, without the rows that deletion vectors mark. Raises as `answered`."""
    with answered(table.table_uri):
        files = pa.table(table.get_add_actions(flatten=True))
        kept = pa.table(table.deletion_vectors())["selection_vector"]
    if not len(files):
        return TableSize()
    size = int(pc.sum(files["size_bytes"]).as_py())
    counts = files["num_records"] if "num_records" in files.column_names else None
    if counts is None or counts.null_count:
        return TableSize(None, size)
    marked = pc.sum(pc.invert(pc.list_flatten(kept))).as_py() or 0
    return TableSize(int(pc.sum(counts).as_py()) - int(marked), size)
