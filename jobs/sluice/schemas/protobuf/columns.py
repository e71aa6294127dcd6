"""Protobuf columns: the columns of a message, by the types of its fields. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from sluice.columns.columns import Array, Column, ColumnType, Decimal, Map, Primitive, Struct
from sluice.columns.declared import ELEMENT, Declared, Note, Place, possible
from sluice.schemas.protobuf.named_types import named_type
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
# Messages that are within one another lead to each other on ever more ways.
_MOST_FIELDS = 10_000
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
    found, reading = message_of(schema, message), _Reading()
    declared = possible(reading.fields(found, (), ()))
    if not declared.columns:
        raise ValueError(
            f"{found.full_name}: expected a message with fields, found none. `type: raw` lands its"
            " records as they are"
        )
    unread = [each.place for each in declared.unread]
    as_text = (
        Note(place, "the schema holds itself")
        for place in reading.recurring
        if not any(place[: len(each)] == each for each in unread)
    )
    return replace(declared, as_text=tuple(as_text))


def column_of(field: FieldDescriptor) -> Column:
    """The column of a field by itself. Raises ValueError."""
    return _Reading().column(field, (), ())


class _Reading:
    """One reading of a message: it remembers where a message is within itself."""

    def __init__(self) -> None:
        self.recurring: list[Place] = []
        self._met = 0

    def fields(
        self, message: Descriptor, above: tuple[str, ...], place: Place
    ) -> tuple[Column, ...]:
        """The columns of all fields of a message, within the messages `above`."""
        self._met += len(message.fields)
        if self._met > _MOST_FIELDS:
            raise ValueError(
                f"{message.full_name}: expected at most {_MOST_FIELDS} fields in all its messages,"
                " found more. Name a schema_file, in which what the table need not have is left out"
            )
        above = (*above, message.full_name)
        return tuple(self.column(each, above, place) for each in message.fields)

    def column(self, field: FieldDescriptor, above: tuple[str, ...], within: Place) -> Column:
        """The column of a field. Raises ValueError, with the path."""
        place, entry = (*within, field.name), field.message_type
        if entry is not None and entry.GetOptions().map_entry:
            if not field.is_repeated or [each.name for each in entry.fields] != ["key", "value"]:
                raise ValueError(
                    f"{field.full_name}: expected a map's entries with key and value, found others"
                )
            value = entry.fields_by_name["value"]
            return Column(field.name, Map(self._value(value, above, (*place, ELEMENT))))
        if field.is_repeated:
            return Column(field.name, Array(self._value(field, above, (*place, ELEMENT))))
        return Column(field.name, self._value(field, above, place))

    def _value(self, field: FieldDescriptor, above: tuple[str, ...], place: Place) -> ColumnType:
        message = field.message_type
        if message is None:
            return _SCALARS[field.type]
        if other := another_message(message):
            raise ValueError(
                f"{field.full_name}: expected Protobuf's own {other}, found a message of this name"
                " with other fields. Name it otherwise, outside of the package google.protobuf"
            )
        if known := _of_its_own(message) or named_type(field, message):
            return known
        if message.full_name in above:
            # Where it begins anew: all that it can hold has columns further up.
            self.recurring.append(place)
            return Primitive("STRING")
        return Struct(self.fields(message, above, place))


def _of_its_own(message: Descriptor) -> ColumnType | None:
    """The type of one of Protobuf's own messages, and of those without fields."""
    if message.full_name == TIMESTAMP_NAME:
        return Primitive("TIMESTAMP")
    if message.full_name == DURATION_NAME:
        return DURATION
    if message.full_name in JSON_NAMES:
        return Primitive("STRING")
    if message.full_name in WRAPPER_NAMES:
        return _SCALARS[message.fields_by_name["value"].type]
    # A table has no struct without fields: what is left is whether it is set.
    return None if message.fields else Primitive("BOOLEAN")
