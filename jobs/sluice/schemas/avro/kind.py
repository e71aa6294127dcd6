"""Avro as a kind of schema. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sluice.columns.declared import Declared
from sluice.schemas.avro.columns import avro_declared
from sluice.schemas.avro.connect_names import meant, named_types
from sluice.schemas.avro.files import in_reading_order
from sluice.schemas.avro.narrowing import narrowing
from sluice.schemas.avro.parsing import parse_avro
from sluice.schemas.avro.resolution import loss
from sluice.schemas.avro.schema import RecordType, Ref
from sluice.schemas.json_texts import JsonTextKind
from sluice.schemas.registered import Reference, RegisteredSchema
from sluice.schemas.spec_files import SpecFiles
from sluice.schemas.values import Values


class AvroKind(JsonTextKind):
    """A schema of one type, mostly a record with a full name."""

    name = "AVRO"

    def has_fields(self, schema: RegisteredSchema) -> bool:
        """Those of a record."""
        found = parse_avro(schema)
        return isinstance(found.named(found.root), RecordType)

    def declared(self, schema: RegisteredSchema, record: str | None) -> Declared:
        """The fields of a record; any other type is the one column `value`."""
        return avro_declared(schema)

    def meant(self, schema: RegisteredSchema) -> RegisteredSchema:
        """By logical types."""
        return meant(schema)

    def named_types(self, schema: RegisteredSchema) -> Sequence[str]:
        """By `connect.name`."""
        return named_types(schema)

    def other_record(
        self, found: RegisteredSchema, reader: RegisteredSchema | None, record: str | None
    ) -> str:
        """Records are told apart by their full names."""
        name = _name(found)
        return "" if reader is None or name == _name(reader) else f"it is another record, {name}"

    def record_names(self, schema: RegisteredSchema) -> Mapping[Sequence[int], str]:
        """That of the outermost type."""
        name = _name(schema)
        return {} if name is None else {(): name}

    def values(self, schema: RegisteredSchema) -> Values:
        """By the schema that they were written with alone."""
        # Only for people who look.
        from sluice.schemas.avro.values import AvroValues

        return AvroValues(parse_avro(schema), _name(schema) or "")

    def loss(self, written: RegisteredSchema, read: RegisteredSchema, record: str | None) -> str:
        """By Avro's schema resolution."""
        return loss(parse_avro(written), parse_avro(read))

    def narrowing(self, before: RegisteredSchema, now: RegisteredSchema) -> str:
        """Defaults and aliases, and the places of a union's types."""
        return narrowing(parse_avro(before), parse_avro(now))

    def _further(
        self, first: Reference, named: Sequence[Reference], files: SpecFiles
    ) -> tuple[Reference, ...]:
        return in_reading_order(first, named)


def _name(schema: RegisteredSchema) -> str | None:
    """The full name of the outermost type; None for one without a name."""
    root = parse_avro(schema).root
    return root.name if isinstance(root, Ref) else None
