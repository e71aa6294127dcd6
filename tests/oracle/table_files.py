"""The rows inside a Delta table's data files, as Arrow columns of the types its schema says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.oracle.deletion_vectors import deleted_rows
from tests.oracle.delta_log import DataFile, TableLog
from tests.oracle.violation import Unjudgeable

PRIMITIVES = {
    "string": pa.string(),
    "binary": pa.binary(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "variant": pa.struct([("value", pa.binary()), ("metadata", pa.binary())]),
}


def arrow_type(delta_type: Any) -> pa.DataType:
    if isinstance(delta_type, dict):
        return _nested_type(delta_type)
    decimal = re.fullmatch(r"decimal\((\d+),\s*(-?\d+)\)", delta_type)
    if decimal:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    if delta_type not in PRIMITIVES:
        raise Unjudgeable(f"type {delta_type} is not read by this oracle")
    return PRIMITIVES[delta_type]


def _nested_type(delta_type: dict[str, Any]) -> pa.DataType:
    if delta_type["type"] == "array":
        return pa.list_(arrow_type(delta_type["elementType"]))
    if delta_type["type"] == "map":
        return pa.map_(arrow_type(delta_type["keyType"]), arrow_type(delta_type["valueType"]))
    return pa.struct([(f["name"], arrow_type(f["type"])) for f in delta_type["fields"]])


def read_live(log: TableLog, columns: Iterable[str]) -> pa.Table:
    """The named columns of the newest version; a column that the table lacks is an error."""
    names = list(columns)
    lacking = [name for name in names if name not in log.schema]
    if log.exists and lacking:
        raise Unjudgeable(f"{log.root}: columns {lacking} are missing, found {list(log.schema)}")
    schema = pa.schema([(name, arrow_type(log.schema.get(name, "string"))) for name in names])
    parts = [read_file(log, file, names) for file in log.live.values()]
    return pa.concat_tables(parts).combine_chunks() if parts else schema.empty_table()


def read_file(log: TableLog, file: DataFile, columns: list[str]) -> pa.Table:
    """Without the rows that its deletion vector names.

    Columns added to the table after the file was written are null, as Delta has it.
    """
    if not Path(file.path).exists():
        raise FileNotFoundError(file.path)
    parquet = pq.ParquetFile(file.path, coerce_int96_timestamp_unit="us")
    inside = set(parquet.schema_arrow.names)
    there = {log.in_files[name]: name for name in columns if log.in_files[name] in inside}
    held = parquet.read([*there]).rename_columns(there)
    values = {name: dict(file.partition_values).get(log.in_files[name]) for name in columns}
    arrays = [_column(log, held, name, values) for name in columns]
    table = pa.table(arrays, names=columns)
    if not file.vector:
        return table
    kept = np.ones(table.num_rows, bool)
    kept[deleted_rows(log.root, dict(file.vector))] = False
    return table.filter(pa.array(kept))


def _column(
    log: TableLog, held: pa.Table, name: str, values: dict[str, str | None]
) -> pa.ChunkedArray:
    kind = arrow_type(log.schema[name])
    if name in held.column_names:
        found = held.column(name)
        if log.in_files[name] != name and found.null_count == len(found):
            # The fields of a nested column have other names, too; without values it has none.
            return pa.chunked_array([pa.nulls(len(found), kind)])
        return found.cast(kind)
    value = values.get(name)
    # An empty string is how Delta writes a null partition value.
    text = pa.scalar(value if value != "" else None, pa.string())
    return pa.chunked_array([pa.repeat(text, held.num_rows).cast(kind)])
