"""Protobuf values: a record's bytes as JSON has them, by the message that it names. Pure.

For people to look at, without a JVM. What decodes records into columns is in jobs/jvm/protobuf.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import Error, MessageToDict
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from sluice.schemas.protobuf.schema import message_of, messages
from sluice.schemas.registered import RegisteredSchema
from sluice.schemas.values import Written


class ProtobufValues:
    """The values of one schema. Raises ValueError for a schema that cannot be read."""

    def __init__(self, schema: RegisteredSchema) -> None:
        self._messages = messages(message_of(schema, None).file)

    def record(self, found: Written) -> str:
        """The full name of its message; empty where it names none."""
        try:
            indexes, _ = found.message()
        except ValueError:
            return ""
        return str(self._messages[indexes].full_name) if indexes in self._messages else ""

    def value(self, found: Written) -> Any:
        """Its fields, also those that are not set. Raises ValueError."""
        indexes, body = found.message()
        if indexes not in self._messages:
            place = ".".join(map(str, indexes))
            raise ValueError(f"expected a message of the schema, found none at index {place}")
        made = GetMessageClass(self._messages[indexes])
        try:
            return MessageToDict(
                made.FromString(body),
                preserving_proto_field_name=True,
                always_print_fields_with_no_presence=True,
            )
        except (DecodeError, Error, TypeError, OverflowError) as problem:
            name = self._messages[indexes].full_name
            raise ValueError(f"expected the message {name}, found {problem}") from None
