"""Avro texts: schemas as the JVM is to read them, each in one text that stands alone. Pure."""

from __future__ import annotations

import json
from typing import Any

from sluice.schemas.avro.schema import (
    MISSING,
    ArrayOf,
    AvroSchema,
    Enum,
    Fixed,
    Logical,
    MapOf,
    Member,
    Named,
    Node,
    RecordType,
    Ref,
    Scalar,
    Union,
)


def schema_text(schema: AvroSchema) -> str:
    """The schema alone."""
    return json.dumps(_Writing(schema).node(schema.root))


class _Writing:
    """Defines a named type where it is used first, and names it from then on."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self._defined: set[str] = set()

    def node(self, node: Node) -> Any:
        match node:
            case Scalar(name, logical):
                return name if logical is None else {"type": name, **_meaning(logical)}
            case ArrayOf(items):
                return {"type": "array", "items": self.node(items)}
            case MapOf(values):
                return {"type": "map", "values": self.node(values)}
            case Union(members):
                return [self.node(each) for each in members]
            case Ref(name):
                return self._named(name)

    def _named(self, name: str) -> Any:
        if name in self._defined:
            return name
        self._defined.add(name)
        found = self._schema.names[name]
        space, _, simple = name.rpartition(".")
        head = {"name": simple, "namespace": space, "aliases": list(found.aliases)}
        return {**head, **self._body(found)}

    def _body(self, found: Named) -> dict[str, Any]:
        match found:
            case Fixed(size=size, logical=logical):
                return {"type": "fixed", "size": size, **_meaning(logical)}
            case Enum(symbols=symbols, default=default):
                given = {} if default is None else {"default": default}
                return {"type": "enum", "symbols": list(symbols), **given}
            case RecordType(fields=fields, logical=logical):
                members = [self._member(each) for each in fields]
                return {"type": "record", "fields": members, **_meaning(logical)}

    def _member(self, member: Member) -> dict[str, Any]:
        given = {} if member.default is MISSING else {"default": member.default}
        return {
            "name": member.name,
            "type": self.node(member.type),
            "aliases": list(member.aliases),
            **given,
        }


def _meaning(logical: Logical | None) -> dict[str, Any]:
    if logical is None:
        return {}
    digits = {"precision": logical.precision, "scale": logical.scale} if logical.precision else {}
    return {"logicalType": logical.name, **digits}
