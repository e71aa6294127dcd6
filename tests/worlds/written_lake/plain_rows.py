"""Plain rows: the rows of a table's files as Python values, and back.

A moment is a number of microseconds and a date one of days: Python has none beyond the year 9999.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from tests.worlds.written_lake.data_files import read_rows
from tests.worlds.written_lake.row_order import Row
from tests.worlds.written_lake.state import StoredFile, TableState


def rows_of(table: TableState, files: Iterable[StoredFile]) -> list[Row]:
    """The rows of some files of a table."""
    return [row for each in files for row in _plain(read_rows(table.uri, each, table.schema))]


def _plain(rows: pa.Table) -> list[Row]:
    fields = [pa.field(each.name, _counted(each.type)) for each in rows.schema]
    found: list[Row] = rows.cast(pa.schema(fields)).to_pylist()
    return found


def _counted(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.int64()
    return pa.int32() if pa.types.is_date(kind) else kind


def as_table(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    """The rows as they are written; null in columns that one lacks."""
    return pa.Table.from_pylist(list(rows), schema)
