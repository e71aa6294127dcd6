"""Registered schemas: a schema as a schema registry has it, under the key that records name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

SchemaKind = Literal["AVRO", "JSON", "PROTOBUF"]


@dataclass(frozen=True)
class Reference:
    """Another schema that a schema imports, by the name that it uses for it."""

    name: str
    text: str


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema's text. `key` is its id in decimal digits, or its GUID, as records carry it.

    A schema from a file has the file's name as its key.
    """

    key: str
    kind: SchemaKind
    text: str
    references: tuple[Reference, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The schema as JSON values."""
        references = [{"name": each.name, "text": each.text} for each in self.references]
        found = {"key": self.key, "kind": self.kind, "text": self.text}
        return {**found, "references": references} if references else found

    @classmethod
    def from_dict(cls, stored: object) -> RegisteredSchema:
        """Read back what `as_dict` wrote. Raises ValueError for anything else."""
        match stored:
            case {"key": str(key), "kind": kind, "text": str(text)} if kind in get_args(SchemaKind):
                known = cast("SchemaKind", kind)
                return cls(key, known, text, tuple(_references(cast("dict[str, Any]", stored))))
        raise ValueError(f"expected a registered schema, found {json.dumps(stored)[:100]}")


def _references(stored: dict[str, Any]) -> list[Reference]:
    try:
        return [Reference(each["name"], each["text"]) for each in stored.get("references", [])]
    except (TypeError, KeyError):
        raise ValueError("references: expected names with texts") from None
