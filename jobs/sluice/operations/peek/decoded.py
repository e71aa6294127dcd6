"""Decoded: a sampled key or value by the schema that it names. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sluice.operations.peek.framed import Framed
from sluice.schemas.registered import Kind, RegisteredSchema


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


class _Values(Protocol):
    """The values of one schema."""

    def record(self, found: Framed) -> str:
        """The name of its record; empty without one."""

    def value(self, found: Framed) -> Any:
        """As JSON has it. Raises ValueError."""


class Decoder:
    """Reads keys and values by the schemas of a registry; `missing` says why there is no other."""

    def __init__(self, schemas: Mapping[str, RegisteredSchema], missing: Mapping[str, str]) -> None:
        self._schemas, self._missing = schemas, missing
        self._values: dict[str, _Values | str] = {}

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

    def _of(self, schema: RegisteredSchema) -> _Values | str:
        """Reading a schema takes longer than reading a value."""
        if schema.key not in self._values:
            try:
                self._values[schema.key] = _values_of(schema)
            except ValueError as problem:
                self._values[schema.key] = f"schema {schema.key} cannot be read: {problem}"
        return self._values[schema.key]


def _values_of(schema: RegisteredSchema) -> _Values:
    match schema.kind:
        case "AVRO":
            return _AvroValues(schema)
        case "JSON":
            return _JsonValues(schema)
        case "PROTOBUF":
            # It loads Google's library.
            from sluice.operations.peek.protobuf_values import ProtobufValues

            return ProtobufValues(schema)


class _AvroValues:
    def __init__(self, schema: RegisteredSchema) -> None:
        from sluice.schemas.avro.kind import AvroKind
        from sluice.schemas.avro.parsing import parse_avro

        self._schema = parse_avro(schema)
        self._name = next(iter(AvroKind().record_names(schema).values()), "")

    def record(self, found: Framed) -> str:
        return self._name

    def value(self, found: Framed) -> Any:
        from sluice.operations.peek.avro_values import avro_value

        return avro_value(self._schema, found.body)


class _JsonValues:
    def __init__(self, schema: RegisteredSchema) -> None:
        from sluice.schemas.json.kind import JsonKind, title_of

        self._has_fields = JsonKind().has_fields(schema)
        self._title = title_of(schema) or ""

    def record(self, found: Framed) -> str:
        return self._title

    def value(self, found: Framed) -> Any:
        from sluice.schemas.inference import parse_object

        if self._has_fields:
            # As strictly as records are decoded.
            parse_object(found.body)
        try:
            return json.loads(found.body)
        except (ValueError, RecursionError) as problem:
            raise ValueError(f"expected JSON, found {problem}") from None
