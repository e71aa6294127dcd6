"""Protobuf as a kind of schema. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from sluice.columns.connect_types import ConnectType
from sluice.columns.declared import Declared
from sluice.schemas.registered import RegisteredSchema
from sluice.schemas.spec_files import SpecFiles
from sluice.schemas.values import Values

# Every source has one, and base64 has none.
_OF_SOURCES = ";"


class ProtobufKind:
    """A file of messages, as a descriptor in base64 or, from a registry, as a .proto source."""

    by_name = False
    opens = False
    many_records = True

    def of_file(self, name: str, content: bytes) -> RegisteredSchema:
        """The file is a descriptor set, which is binary."""
        return RegisteredSchema(name, "PROTOBUF", base64.b64encode(content).decode())

    def with_files(
        self, schema: RegisteredSchema, names: Sequence[str], files: SpecFiles
    ) -> RegisteredSchema:
        """A descriptor set has all files."""
        return schema

    def is_source(self, schema: RegisteredSchema) -> bool:
        """Confluent's serialiser for Java registers the source, that for Python a descriptor."""
        return _OF_SOURCES in schema.text

    def known_files(self) -> bytes:
        """A descriptor set."""
        from sluice.schemas.protobuf.known_files import KNOWN_SET

        return KNOWN_SET

    def same(self, one: RegisteredSchema, other: RegisteredSchema) -> bool:
        """By their descriptors as they are."""
        return one.texts == other.texts

    def has_fields(self, schema: RegisteredSchema) -> bool:
        """Always: a record is a message."""
        return True

    def declared(self, schema: RegisteredSchema, record: str | None) -> Declared:
        """The fields of the message of this name; without one, of the first."""
        # Loads Google's library, as `loss` does: only once a schema is read.
        from sluice.schemas.protobuf.columns import protobuf_declared

        return protobuf_declared(schema, record)

    def meant(self, schema: RegisteredSchema) -> RegisteredSchema:
        """As it is: the converter names no types in it."""
        return schema

    def connect_types(
        self, schema: RegisteredSchema, within: str | None
    ) -> Mapping[str, ConnectType]:
        """None."""
        return {}

    def named_types(self, schema: RegisteredSchema) -> Sequence[str]:
        """None."""
        return ()

    def other_record(
        self, found: RegisteredSchema, reader: RegisteredSchema | None, record: str | None
    ) -> str:
        """Always empty: `loss` compares the names of messages."""
        return ""

    def record_names(self, schema: RegisteredSchema) -> Mapping[Sequence[int], str]:
        """Those of all messages of its file."""
        from sluice.schemas.protobuf.schema import message_of, messages

        found = messages(message_of(schema, None).file)
        return {indexes: each.full_name for indexes, each in found.items()}

    def values(self, schema: RegisteredSchema) -> Values:
        """By the message that each one names."""
        from sluice.schemas.protobuf.values import ProtobufValues

        return ProtobufValues(schema)

    def loss(self, written: RegisteredSchema, read: RegisteredSchema, record: str | None) -> str:
        """What the numbers and types of fields change."""
        from sluice.schemas.protobuf.evolution import message_loss
        from sluice.schemas.protobuf.schema import message_of

        return message_loss(message_of(written, record), message_of(read, record))

    def narrowing(self, before: RegisteredSchema, now: RegisteredSchema) -> str:
        """Always empty: a reader gives no defaults and no aliases."""
        return ""
