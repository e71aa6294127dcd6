"""Partition values: what the log says of a file's partition columns.

Whether a file has these columns as well is up to its writer: delta-rs leaves them out, Delta for
Spark does as `delta.writePartitionColumnsToParquet` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

from sluice.errors import TableRefused
from sluice.tables.arrow_datasets import dataset as pads
from sluice.tables.logged_files import LoggedFile
from sluice.tables.physical_columns import fields_of, physical_field, physical_name

Values = tuple[tuple[str, Any], ...]
"""Each partition column of a file, by its physical name, with its value."""


def values_by_file(table: DeltaTable) -> Mapping[str, Values]:
    """The values of all files of a table, by the file's name, which no other file has."""
    fields = _partition_fields(table)
    if not fields:
        return {}
    files = pa.table(table.get_add_actions())
    rows = zip(files["path"].to_pylist(), files["partition"].to_pylist(), strict=True)
    return {
        path.rpartition("/")[2]: tuple((physical_name(fields[e]), each[e]) for e in fields)
        for path, each in rows
    }


def values_of(table: DeltaTable, file: LoggedFile) -> Values:
    """The same as a commit has them. Raises TableRefused where it does not."""
    fields, given = map(physical_field, _partition_fields(table).values()), file.partition or {}
    found = []
    for each in fields:
        if each.name not in given:
            raise TableRefused(
                f"{table.table_uri}: {file.path}: expected its partition in the commit that names"
                f" it, found no {each.name}. RESTORE the table to the version before."
            )
        found.append((each.name, _value(given[each.name], each.type)))
    return tuple(found)


def guarantee(values: Values, fields: pa.Schema) -> pads.Expression:
    """What holds for every row of a file with these values, as far as it concerns these fields."""
    known = [(name, value) for name, value in values if name in fields.names]
    holds = [_holds(name, value, fields.field(name).type) for name, value in known]
    return reduce(and_, holds, pads.scalar(True))


def _partition_fields(table: DeltaTable) -> Mapping[str, pa.Field]:
    names = table.metadata().partition_columns
    return fields_of(table, names) if names else {}


def _holds(name: str, value: Any, kind: pa.DataType) -> pads.Expression:
    field = pads.field(name)
    return field.is_null() if value is None else field == pa.scalar(value, kind)


def _value(text: str | None, kind: pa.DataType) -> Any:
    """Delta's PROTOCOL.md, Partition Value Serialization: an empty text is null."""
    if not text:
        return None
    if pa.types.is_timestamp(kind) and kind.tz and not text.endswith("Z"):
        text += "Z"
    return pa.array([text]).cast(kind)[0].as_py()
