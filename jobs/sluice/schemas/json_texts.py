"""Schemas that are JSON texts: what Avro and JSON Schema have in common as kinds. Pure."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from sluice.columns.connect_types import ConnectType
from sluice.schemas.registered import Kind, Reference, RegisteredSchema
from sluice.schemas.spec_files import SpecFiles, named_files, plain_path


class JsonTextKind(ABC):
    """One schema for one record, written in JSON."""

    name: ClassVar[Kind]
    by_name = True
    opens = False
    many_records = False

    def of_file(self, name: str, content: bytes) -> RegisteredSchema:
        """The file is text, such as `order.avsc`."""
        try:
            return RegisteredSchema(name, self.name, content.decode())
        except UnicodeDecodeError:
            raise ValueError(f"schema_file: {name}: expected text in UTF-8") from None

    def with_files(
        self, schema: RegisteredSchema, names: Sequence[str], files: SpecFiles
    ) -> RegisteredSchema:
        """Further files are its references."""
        named = named_files(schema.key, names, files)
        first = Reference(plain_path(schema.key), schema.text)
        return replace(schema, references=self._further(first, named, files))

    @abstractmethod
    def _further(
        self, first: Reference, named: Sequence[Reference], files: SpecFiles
    ) -> tuple[Reference, ...]:
        """The texts that the first file needs, in the order in which they can be read."""

    def is_source(self, schema: RegisteredSchema) -> bool:
        """Never: the text is read as it is."""
        return False

    def meant(self, schema: RegisteredSchema) -> RegisteredSchema:
        """As it is."""
        return schema

    def connect_types(
        self, schema: RegisteredSchema, within: str | None
    ) -> Mapping[str, ConnectType]:
        """None."""
        return {}

    def known_files(self) -> bytes:
        """Always empty: there are no sources."""
        return b""

    def same(self, one: RegisteredSchema, other: RegisteredSchema) -> bool:
        """By the content of the JSON."""
        return _contents(one) == _contents(other)


def as_json(text: str) -> Any:
    """The content of a JSON text; any other text is its own."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _contents(schema: RegisteredSchema) -> Mapping[str | None, Any]:
    return {name: as_json(text) for name, text in schema.texts.items()}
