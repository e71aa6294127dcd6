"""The kind of a schema: what Avro, JSON Schema and Protobuf each answer. Pure.

Where a method is given two schemas, both are of this kind. A `record` is the name that the spec
gives of the record that the table is for; None without one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sluice.columns.connect_types import ConnectType
from sluice.columns.declared import Declared
from sluice.schemas.registered import Kind, RegisteredSchema
from sluice.schemas.spec_files import SpecFiles
from sluice.schemas.values import Values


class SchemaKind(Protocol):
    """The contract: all that the rest of Sluice asks of a schema's language."""

    by_name: bool
    """Whether the fields of records are found by their exact names; else by their numbers."""
    opens: bool
    """Whether a record may have fields of any name, each read as what a spec says it is."""
    many_records: bool
    """Whether one schema describes several records, of which the spec names one."""

    def of_file(self, name: str, content: bytes) -> RegisteredSchema:
        """The schema that a file holds; its key is the file's name. Raises ValueError."""

    def with_files(
        self, schema: RegisteredSchema, names: Sequence[str], files: SpecFiles
    ) -> RegisteredSchema:
        """The schema of a file with the further files that it needs: those that are named, and
        those that it leads to. Raises ValueError.
        """

    def is_source(self, schema: RegisteredSchema) -> bool:
        """Whether the schema is a source, which has to be compiled before it is read."""

    def known_files(self) -> bytes:
        """The files that every source may use without a reference, as its compiler takes them.

        Empty for a kind without sources.
        """

    def same(self, one: RegisteredSchema, other: RegisteredSchema) -> bool:
        """Whether two schemas are one, however a registry writes their texts."""

    def has_fields(self, schema: RegisteredSchema) -> bool:
        """Whether its records have fields; else each is the one column `value`, as a whole."""

    def declared(self, schema: RegisteredSchema, record: str | None) -> Declared:
        """The columns that a table has for the schema, in its order, and what they do not hold.

        Raises ValueError for what no table can hold, by its name.
        """

    def meant(self, schema: RegisteredSchema) -> RegisteredSchema:
        """The schema whose types say what Connect and Debezium name them."""

    def connect_types(
        self, schema: RegisteredSchema, within: str | None
    ) -> Mapping[str, ConnectType]:
        """The types that it names of a row's fields, and does not say itself.

        The row is the record, or what its field `within` holds.
        """

    def named_types(self, schema: RegisteredSchema) -> Sequence[str]:
        """The names of Connect's and Debezium's types that it has, in its order."""

    def other_record(
        self, found: RegisteredSchema, reader: RegisteredSchema | None, record: str | None
    ) -> str:
        """Which record a schema describes, where that is not the reader's; else empty."""

    def record_names(self, schema: RegisteredSchema) -> Mapping[Sequence[int], str]:
        """The full names of its records, by their indexes where it has several; else by ().

        Empty where its records have none. Raises ValueError for a schema that cannot be read.
        """

    def values(self, schema: RegisteredSchema) -> Values:
        """What reads keys and values that were written with it. Raises ValueError."""

    def loss(self, written: RegisteredSchema, read: RegisteredSchema, record: str | None) -> str:
        """Why some record of one schema cannot be read as another, or not as it is; else empty.

        Only what columns do not show: symbols, types of a union, defaults, numbers of fields.
        """

    def narrowing(self, before: RegisteredSchema, now: RegisteredSchema) -> str:
        """What a reader reads of still older schemas that another would not; else empty."""


def kind_of(name: Kind) -> SchemaKind:
    """The kind of this name; no other is loaded."""
    match name:
        case "AVRO":
            from sluice.schemas.avro.kind import AvroKind

            return AvroKind()
        case "JSON":
            from sluice.schemas.json.kind import JsonKind

            return JsonKind()
        case "PROTOBUF":
            from sluice.schemas.protobuf.kind import ProtobufKind

            return ProtobufKind()
