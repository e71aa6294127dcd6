"""Columns under the names that a table's files have for them, nested ones too."""

from __future__ import annotations

import pyarrow as pa
from sluice.tables.physical_columns import physical_field, renamed


def mapped(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, metadata={"delta.columnMapping.physicalName": f"col-{name}"})


INNER = pa.struct([mapped("x", pa.int32()), mapped("y", pa.list_(pa.string()))])
FIELD = mapped(
    "a", pa.struct([mapped("s", pa.list_(INNER)), mapped("m", pa.map_("string", INNER))])
)
ROWS = [{"s": [{"x": 1, "y": ["p"]}], "m": [("k", {"x": 2, "y": None})]}, None]


def test_what_is_nested_has_physical_names_as_well() -> None:
    inside = "struct<col-x: int32, col-y: list<item: string>>"
    assert str(physical_field(FIELD).type) == (
        f"struct<col-s: list<item: {inside}>, col-m: map<string, {inside}>>"
    )
    assert physical_field(pa.field("plain", pa.int32())) == pa.field("plain", pa.int32())


def test_rows_get_their_names_back() -> None:
    kind = physical_field(FIELD).type
    batch = pa.record_batch({"col-a": pa.array([None, None], kind)})
    logical = pa.schema([FIELD.remove_metadata()])
    assert renamed(batch, logical).to_pylist() == [{"a": None}, {"a": None}]
    rows = pa.record_batch([pa.array(ROWS, FIELD.type)], schema=pa.schema([FIELD]))
    there = renamed(rows, pa.schema([physical_field(FIELD)]))
    assert there.column_names == ["col-a"]
    assert renamed(there, logical).to_pylist() == [{"a": row} for row in ROWS]
