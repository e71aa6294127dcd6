"""JSON Schema as a kind of schema. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sluice.columns.connect_types import ConnectType
from sluice.columns.declared import Declared
from sluice.schemas.json.connect_titles import connect_types
from sluice.schemas.json.files import require_own_ids, with_referenced
from sluice.schemas.json_texts import JsonTextKind, as_json
from sluice.schemas.registered import Reference, RegisteredSchema
from sluice.schemas.spec_files import SpecFiles
from sluice.schemas.values import Values


class JsonKind(JsonTextKind):
    """A schema of objects, mostly; records hold the names of their fields themselves."""

    name = "JSON"
    opens = True

    def has_fields(self, schema: RegisteredSchema) -> bool:
        """The properties of its objects."""
        from sluice.schemas.json.columns import describes_objects

        return describes_objects(schema)

    def declared(self, schema: RegisteredSchema, record: str | None) -> Declared:
        """The properties of its objects; of any other schema the one column `value`."""
        # Loads `referencing`, which most JSON does not need.
        from sluice.schemas.json.columns import json_schema_declared

        return json_schema_declared(schema)

    def connect_types(
        self, schema: RegisteredSchema, within: str | None
    ) -> Mapping[str, ConnectType]:
        """By their titles."""
        return connect_types(schema, within)

    def named_types(self, schema: RegisteredSchema) -> Sequence[str]:
        """Titles of the record's own fields."""
        return [*dict.fromkeys(each.name for each in connect_types(schema, None).values())]

    def other_record(
        self, found: RegisteredSchema, reader: RegisteredSchema | None, record: str | None
    ) -> str:
        """By title, which Confluent's strategies take for the name; the subject may differ from it.

        Where the spec names no record, titles mean nothing.
        """
        title = title_of(found)
        if record is None or title is None or title in (record, reader and title_of(reader)):
            return ""
        return f"expected record {record}, found record {title}"

    def record_names(self, schema: RegisteredSchema) -> Mapping[Sequence[int], str]:
        """None: a title need not be its subject's name."""
        return {}

    def values(self, schema: RegisteredSchema) -> Values:
        """Whatever JSON they are; records have the schema's title for a name."""
        # Only for people who look.
        from sluice.schemas.json.values import JsonValues

        return JsonValues(title_of(schema) or "", self.has_fields(schema))

    def loss(self, written: RegisteredSchema, read: RegisteredSchema, record: str | None) -> str:
        """Only of records with fields and records as a whole; all else the columns show."""
        if self.has_fields(written) == self.has_fields(read):
            return ""
        return "one is of objects with properties, the other of values that are kept as a whole"

    def narrowing(self, before: RegisteredSchema, now: RegisteredSchema) -> str:
        """Always empty: a record is read without the schema that it was written with."""
        return ""

    def _further(
        self, first: Reference, named: Sequence[Reference], files: SpecFiles
    ) -> tuple[Reference, ...]:
        found = with_referenced(first, named, files)
        require_own_ids((first, *found))
        return found


def title_of(schema: RegisteredSchema) -> str | None:
    """What a schema says that its records are; None where it says nothing."""
    match as_json(schema.text):
        case {"title": str(title)}:
            return title
    return None
