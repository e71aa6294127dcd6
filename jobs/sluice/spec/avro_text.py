"""Avro texts: schemas as Spark is to read them, each in one text that stands alone. Pure.

Where from_avro fails it gives nulls. So a witness is named, a column that is never null in what was
read. Where no field is one, a record of two fields stands around the schemas: `v` is the datum;
`read`, which only the reader has, is true by its default.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.spec.avro_schema import (
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
    Record,
    Ref,
    Scalar,
    Union,
    most_digits,
)

DATUM, READ = "v", "read"
_AROUND = "sluice_record_of_two"
_READ = {"name": READ, "type": "boolean", "default": True}
_MOST_DIGITS = 38


def schema_text(schema: AvroSchema) -> str:
    """The schema alone."""
    return json.dumps(_Writing(schema).node(schema.root))


@dataclass(frozen=True)
class Reading:
    """How a reader's datum is read: with a record around it or without, and its witness."""

    around: bool
    witness: str

    def of_writer(self, schema: AvroSchema) -> str:
        """A writer's schema for it."""
        return _around(schema) if self.around else schema_text(schema)

    def of_reader(self, schema: AvroSchema) -> str:
        """The reader's schema for it."""
        return _around(schema, _READ) if self.around else schema_text(schema)


def reading_of(reader: AvroSchema) -> Reading:
    """The way to read that costs least."""
    root = reader.named(reader.root)
    fields = root.fields if isinstance(root, Record) else ()
    sure = next((each.name for each in fields if not _may_be_null(reader, each.type)), None)
    return Reading(around=True, witness=READ) if sure is None else Reading(False, sure)


def _may_be_null(schema: AvroSchema, node: Node) -> bool:
    return isinstance(node, Union) and Scalar("null") in node.members


def _around(schema: AvroSchema, *more: Mapping[str, Any]) -> str:
    datum = {"name": DATUM, "type": _Writing(schema).node(schema.root)}
    whole = {"type": "record", "name": _AROUND, "namespace": "", "fields": [datum, *more]}
    return json.dumps(whole)


class _Writing:
    """Defines a named type where it is used first, and names it from then on."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self._defined: set[str] = set()

    def node(self, node: Node) -> Any:
        match node:
            case Scalar(name, logical):
                return name if logical is None else _with_digits({"type": name}, logical)
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
                fixed = {"type": "fixed", "size": size}
                return fixed if logical is None else _with_digits(fixed, logical)
            case Enum(symbols=symbols, default=default):
                given = {} if default is None else {"default": default}
                return {"type": "enum", "symbols": list(symbols), **given}
            case Record(fields=fields):
                return {"type": "record", "fields": [self._member(each) for each in fields]}

    def _member(self, member: Member) -> dict[str, Any]:
        given = {} if member.default is MISSING else {"default": member.default}
        return {
            "name": member.name,
            "type": self.node(member.type),
            "aliases": list(member.aliases),
            **given,
        }


def _with_digits(carrier: dict[str, Any], logical: Logical) -> dict[str, Any]:
    """Decimals are read by Spark, with all the digits that there may be; the rest by us."""
    if logical.name != "decimal":
        return carrier
    most = min(most_digits(carrier["size"]), _MOST_DIGITS) if "size" in carrier else _MOST_DIGITS
    if logical.precision > most:
        return carrier
    return {**carrier, "logicalType": "decimal", "precision": most, "scale": logical.scale}
