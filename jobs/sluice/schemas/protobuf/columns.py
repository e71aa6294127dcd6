"""Protobuf columns: the columns of a message, by the types of its fields. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from sluice.columns.columns import Array, Column, ColumnType, Decimal, Map, Primitive, Struct
from sluice.columns.declared import Declared, possible
from sluice.schemas.protobuf.own_files import another_message
from sluice.schemas.protobuf.schema import message_of
from sluice.schemas.registered import RegisteredSchema

_F = FieldDescriptor
UINT64 = Decimal(20, 0)
# Seconds of ± 10,000 years, and nanoseconds.
DURATION = Decimal(21, 9)
_SCALARS: Mapping[int, ColumnType] = {
    **dict.fromkeys((_F.TYPE_INT32, _F.TYPE_SINT32, _F.TYPE_SFIXED32), Primitive("INT")),
    **dict.fromkeys((_F.TYPE_INT64, _F.TYPE_SINT64, _F.TYPE_SFIXED64), Primitive("BIGINT")),
    **dict.fromkeys((_F.TYPE_UINT32, _F.TYPE_FIXED32), Primitive("BIGINT")),
    **dict.fromkeys((_F.TYPE_UINT64, _F.TYPE_FIXED64), UINT64),
    _F.TYPE_FLOAT: Primitive("FLOAT"),
    _F.TYPE_DOUBLE: Primitive("DOUBLE"),
    _F.TYPE_BOOL: Primitive("BOOLEAN"),
    _F.TYPE_STRING: Primitive("STRING"),
    _F.TYPE_ENUM: Primitive("STRING"),
    _F.TYPE_BYTES: Primitive("BINARY"),
}
TIMESTAMP_NAME = "google.protobuf.Timestamp"
DURATION_NAME = "google.protobuf.Duration"
# Any JSON value: its text.
JSON_NAMES = frozenset(
    ("google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue")
)
# A scalar that may be absent.
WRAPPER_NAMES = frozenset(
    f"google.protobuf.{each}Value"
    for each in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)


def protobuf_declared(schema: RegisteredSchema, message: str | None) -> Declared:
    """The columns. Raises ValueError for what no table can hold, by its name."""
    found = message_of(schema, message)
    columns = _fields(found, (), found.full_name)
    if not columns:
        raise ValueError(f"{found.full_name}: expected a message with fields, found none")
    return possible(columns)


def _fields(message: Descriptor, above: tuple[str, ...], path: str) -> tuple[Column, ...]:
    if message.full_name in above:
        around = " → ".join([*above[above.index(message.full_name) :], message.full_name])
        raise ValueError(f"{path}: found a recursive message ({around}); no column can hold it")
    columns: dict[str, Column] = {}
    for field in message.fields:
        other = columns.get(field.name.lower())
        if other is not None:
            raise ValueError(
                f"{path}: found the fields {other.name} and {field.name}, which are one to Delta:"
                " it ignores case in column names"
            )
        column = column_of(field, (*above, message.full_name), f"{path}.{field.name}")
        columns[field.name.lower()] = column
    return tuple(columns.values())


def column_of(field: FieldDescriptor, above: tuple[str, ...], path: str) -> Column:
    """The column of a field within the messages `above`. Raises ValueError, with the path."""
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        if not field.is_repeated or [each.name for each in entry.fields] != ["key", "value"]:
            raise ValueError(f"{path}: expected a map's entries with key and value, found others")
        return Column(field.name, Map(_value(entry.fields_by_name["value"], above, path)))
    found = _value(field, above, path)
    return Column(field.name, Array(found) if field.is_repeated else found)


def _value(field: FieldDescriptor, above: tuple[str, ...], path: str) -> ColumnType:
    message = field.message_type
    if message is None:
        return _SCALARS[field.type]
    if other := another_message(message):
        raise ValueError(
            f"{path}: expected Protobuf's own {other}, found a message of this name with other"
            " fields. Name it otherwise, outside of the package google.protobuf"
        )
    if message.full_name == TIMESTAMP_NAME:
        return Primitive("TIMESTAMP")
    if message.full_name == DURATION_NAME:
        return DURATION
    if message.full_name in JSON_NAMES:
        return Primitive("STRING")
    if message.full_name in WRAPPER_NAMES:
        return _SCALARS[message.fields_by_name["value"].type]
    if not message.fields:
        # A table has no struct without fields: what is left is whether it is set.
        return Primitive("BOOLEAN")
    return Struct(_fields(message, above, path))
