"""Reader columns: the columns that a reader schema gives a table, whatever its kind. Pure."""

from __future__ import annotations

from sluice.columns.columns import Column, require_names
from sluice.schemas.registered import RegisteredSchema


def reader_columns(schema: RegisteredSchema, record: str | None) -> tuple[Column, ...]:
    """The columns, in the schema's order. `record` names the message of a Protobuf schema.

    Raises ValueError for what no table can hold, such as a recursive type or a name that is
    Sluice's own, by its name.
    """
    columns = _columns(schema, record)
    require_names(columns)
    return columns


def _columns(schema: RegisteredSchema, record: str | None) -> tuple[Column, ...]:
    match schema.kind:
        case "AVRO":
            from sluice.schemas.avro.columns import avro_columns

            return avro_columns(schema)
        case "JSON":
            from sluice.schemas.json.columns import json_schema_columns

            return json_schema_columns(schema)
        case "PROTOBUF":
            from sluice.schemas.protobuf.columns import protobuf_columns

            return protobuf_columns(schema, record)
