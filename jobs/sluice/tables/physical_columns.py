"""Physical columns: a table's columns as its files name them, which column mapping decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

from sluice.errors import TableRefused

_PHYSICAL_NAME = b"delta.columnMapping.physicalName"


def fields_of(table: DeltaTable, columns: Iterable[str]) -> Mapping[str, pa.Field]:
    """These columns of a table. Raises TableRefused where it lacks one."""
    schema = pa.schema(table.schema().to_arrow())
    wanted = dict.fromkeys(columns)
    lacking = sorted(wanted.keys() - {*schema.names})
    if lacking:
        raise TableRefused(
            f"{table.table_uri}: expected the columns {', '.join(lacking)}, found none of that"
            " name. RESTORE the table to a version before they were renamed or dropped."
        )
    return {name: schema.field(name) for name in wanted}


def physical_name(field: pa.Field) -> str:
    """The name of a column in the files, or of a field of one."""
    metadata: Mapping[bytes, bytes] = field.metadata or {}
    name: bytes = metadata.get(_PHYSICAL_NAME, field.name.encode())
    return name.decode()


def physical_field(field: pa.Field) -> pa.Field:
    """A column as the files have it: its name and, where it is nested, those inside."""
    return pa.field(physical_name(field), _physical_type(field.type), field.nullable)


def _physical_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([physical_field(each) for each in kind])
    if pa.types.is_map(kind):
        return pa.map_(physical_field(kind.key_field), physical_field(kind.item_field))
    if pa.types.is_list(kind):
        return pa.list_(physical_field(kind.value_field))
    return kind


def renamed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The same values with other names, nested ones too."""
    return pa.record_batch(_Renamed(batch, schema))


class _Renamed:
    """Arrow's interface for what holds Arrow data: the values of one, the names of another."""

    def __init__(self, batch: pa.RecordBatch, schema: pa.Schema) -> None:
        self._batch, self._schema = batch, schema

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        _, values = self._batch.__arrow_c_array__()
        return self._schema.__arrow_c_schema__(), values
