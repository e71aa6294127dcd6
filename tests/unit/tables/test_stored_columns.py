"""The columns of a Delta table, read back as a spec would declare them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from sluice.columns.columns import parse_columns
from sluice.tables.delta_log import DeltaLog
from sluice.tables.stored_columns import stored_columns

COLUMNS = {
    "a": pa.string(),
    "b": pa.bool_(),
    "c": pa.int8(),
    "d": pa.int16(),
    "e": pa.int32(),
    "f": pa.int64(),
    "g": pa.float32(),
    "h": pa.float64(),
    "i": pa.date32(),
    "j": pa.timestamp("us", "UTC"),
    "k": pa.binary(),
    "l": pa.decimal128(12, 3),
    "m": pa.list_(pa.struct([("x", pa.int32())])),
    "n": pa.map_(pa.string(), pa.list_(pa.string())),
}
DECLARED = (
    "a STRING, b BOOLEAN, c TINYINT, d SMALLINT, e INT, f BIGINT, g FLOAT, h DOUBLE, i DATE,"
    " j TIMESTAMP, k BINARY, l DECIMAL(12,3), m ARRAY<STRUCT<x: INT>>, n MAP<STRING, ARRAY<STRING>>"
)


def test_every_type_that_a_spec_can_declare_is_known(tmp_path: Path) -> None:
    table = DeltaTable.create(str(tmp_path / "t"), pa.schema(list(COLUMNS.items())))
    assert stored_columns(table) == parse_columns(DECLARED)


def test_a_type_that_no_spec_declares_keeps_its_name(tmp_path: Path) -> None:
    table = DeltaTable.create(str(tmp_path / "t"), pa.schema([("a", pa.timestamp("us"))]))
    (column,) = stored_columns(table)
    assert str(column.type) == "TIMESTAMP_NTZ"


def test_where_there_is_no_table_there_are_no_columns(tmp_path: Path) -> None:
    assert DeltaLog(str(tmp_path / "none")).snapshot().columns == ()
