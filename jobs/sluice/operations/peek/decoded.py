"""Decoded: a sampled key or value by the schema that it names. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.operations.peek.framed import Framed
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import Kind, RegisteredSchema
from sluice.schemas.values import Values


@dataclass(frozen=True)
class Decoded:
    """What was read by the schema `schema`, or why nothing was.

    `kind` is None where the registry does not give the schema; `record` is the name of the record,
    empty where the schema has none.
    """

    schema: str
    kind: Kind | None = None
    record: str = ""
    value: Any = None
    why: str = ""


class Decoder:
    """Reads keys and values by the schemas of a registry; `missing` says why there is no other."""

    def __init__(self, schemas: Mapping[str, RegisteredSchema], missing: Mapping[str, str]) -> None:
        self._schemas, self._missing = schemas, missing
        self._values: dict[str, Values | str] = {}

    def decoded(self, found: Framed) -> Decoded:
        """What it holds."""
        schema = self._schemas.get(found.schema)
        if schema is None:
            why = self._missing.get(found.schema, f"no schema {found.schema} is known")
            return Decoded(found.schema, why=why)
        values = self._of(schema)
        if isinstance(values, str):
            return Decoded(schema.key, schema.kind, why=values)
        record = values.record(found)
        try:
            return Decoded(schema.key, schema.kind, record, values.value(found))
        except ValueError as problem:
            return Decoded(schema.key, schema.kind, record, why=str(problem))

    def _of(self, schema: RegisteredSchema) -> Values | str:
        """Reading a schema takes longer than reading a value."""
        if schema.key not in self._values:
            try:
                self._values[schema.key] = kind_of(schema.kind).values(schema)
            except ValueError as problem:
                self._values[schema.key] = f"schema {schema.key} cannot be read: {problem}"
        return self._values[schema.key]
