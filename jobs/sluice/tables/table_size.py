"""Table size: the rows and bytes of a table, as its log states them."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from sluice.tables.logged_vectors import logged_vectors
from sluice.tables.table_files import answered


@dataclass(frozen=True)
class TableSize:
    """Rows, None where the log does not say how many; and the bytes of the files that hold them."""

    rows: int | None = 0
    size: int = 0


def size_of(table: DeltaTable) -> TableSize:
    """The size of a table, without the rows that deletion vectors mark, which are not read.

    Raises as `answered`, and FileNotFoundError where its log has lost a commit meanwhile.
    """
    with answered(table.table_uri):
        files = pa.table(table.get_add_actions(flatten=True))
    if not len(files):
        return TableSize()
    size = int(pc.sum(files["size_bytes"]).as_py())
    counts = files["num_records"] if "num_records" in files.column_names else None
    if counts is None or counts.null_count:
        return TableSize(None, size)
    return TableSize(int(pc.sum(counts).as_py()) - _marked(table, files["path"]), size)


def _marked(table: DeltaTable, paths: pa.ChunkedArray) -> int:
    """How many rows of the files are marked as deleted.

    By the log: delta-rs tells no vectors of a table with type widening (1.6).
    """
    if "deletionVectors" not in (table.protocol().reader_features or []):
        return 0
    names = {unquote(each).rpartition("/")[2] for each in paths.to_pylist()}
    return sum(int(each["cardinality"]) for each in logged_vectors(table, names).values())
