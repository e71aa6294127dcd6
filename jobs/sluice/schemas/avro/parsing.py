"""Reading the text of an Avro schema. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
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
    most_digits,
)
from sluice.schemas.registered import RegisteredSchema

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
# The logical types that mean something here, by what carries them; others are left out, as Avro
# wants it.
LOGICAL: Mapping[str, tuple[str, ...]] = {
    "date": ("int",),
    "time-millis": ("int",),
    "time-micros": ("long",),
    "timestamp-millis": ("long",),
    "timestamp-micros": ("long",),
    "timestamp-nanos": ("long",),
    "local-timestamp-millis": ("long",),
    "local-timestamp-micros": ("long",),
    "local-timestamp-nanos": ("long",),
    "decimal": ("bytes", "fixed"),
    "uuid": ("string", "fixed"),
    "duration": ("fixed",),
    # Sluice's own, for types that Connect and Debezium name (connect_names).
    "sluice-time-nanos": ("long",),
    "sluice-timestamp-text": ("string",),
    "sluice-date-text": ("string",),
    "sluice-decimal-text": ("record",),
}
_SIZES = {"uuid": 16, "duration": 12}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEEPEST = 50


def parse_avro(schema: RegisteredSchema) -> AvroSchema:
    """Read a schema with what it refers to. Raises ValueError: the place, expected and found."""
    of_file = schema.is_of_file
    reading = _Reading(": name the file that defines it in schema_files" if of_file else "")
    for each in schema.references:
        reading.text(each.text, each.name if of_file else f"reference {each.name}")
    root = reading.text(schema.text, "")
    _require_ends(reading.names)
    return AvroSchema(root, reading.names)


class _Reading:
    """The named types so far: a text may only use those before; `move` is what to do else."""

    def __init__(self, move: str) -> None:
        self._move = move
        self.names: dict[str, Named] = {}
        self._begun: set[str] = set()
        self._depth = 0

    def text(self, text: str, place: str) -> Node:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as problem:
            if text in PRIMITIVES:
                return Scalar(text)
            raise ValueError(f"{place or 'schema'}: expected JSON, found {problem}") from None
        try:
            return self._node(found, "")
        except ValueError as problem:
            raise ValueError(f"{place}: {problem}" if place else str(problem)) from None

    def _node(self, found: Any, space: str) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError(f"types are nested more than {_DEEPEST} levels deep")
        try:
            match found:
                case str():
                    return self._by_name(found, space)
                case list():
                    return self._union(found, space)
                case dict():
                    return self._object(found, space)
        finally:
            self._depth -= 1
        raise ValueError(f"expected a type, found {_shown(found)}")

    def _by_name(self, name: str, space: str) -> Node:
        if name in PRIMITIVES:
            return Scalar(name)
        full = full_name(name, space)
        for each in (full, name):
            if each in self._begun:
                return Ref(each)
        raise ValueError(f"expected a type that is defined before, found {name!r}{self._move}")

    def _union(self, found: list[Any], space: str) -> Union:
        members = tuple(self._node(each, space) for each in found)
        if any(isinstance(each, Union) for each in members):
            raise ValueError("a union must not hold another one directly")
        kinds = [each.name if isinstance(each, Scalar | Ref) else type(each) for each in members]
        if len({*kinds}) < len(kinds):
            raise ValueError("a union must not hold the same type twice")
        return Union(members)

    def _object(self, found: dict[str, Any], space: str) -> Node:
        match found.get("type"):
            case "array":
                return ArrayOf(_at("items", lambda: self._node(found.get("items"), space)))
            case "map":
                return MapOf(_at("values", lambda: self._node(found.get("values"), space)))
            case "record" | "error" | "enum" | "fixed":
                return self._defined(found, space)
            case str() as name if name in PRIMITIVES:
                return Scalar(name, _logical(found, name, 0))
            case other:
                return self._node(other, space)

    def _defined(self, found: dict[str, Any], space: str) -> Ref:
        name, inner = _defined_name(found, space)
        if name in self._begun:
            raise ValueError(f"{name}: defined twice")
        self._begun.add(name)
        aliases = tuple(full_name(each, inner) for each in _texts(found, "aliases"))
        match found["type"]:
            case "fixed":
                self.names[name] = _fixed(found, name, aliases)
            case "enum":
                self.names[name] = _enum(found, name, aliases)
            case _:
                fields, logical = self._fields(found, name, inner), _logical(found, "record", 0)
                self.names[name] = RecordType(name, aliases, fields, logical)
        return Ref(name)

    def _fields(self, found: dict[str, Any], name: str, space: str) -> tuple[Member, ...]:
        fields = found.get("fields")
        if not isinstance(fields, list) or not all(isinstance(each, dict) for each in fields):
            raise ValueError(f"{name}: expected fields, found {_shown(fields)}")
        members = tuple(self._member(each, space) for each in fields)
        if len({each.name for each in members}) < len(members):
            raise ValueError(f"{name}: a field is declared twice")
        return members

    def _member(self, found: dict[str, Any], space: str) -> Member:
        name = _simple(found.get("name"))
        kind = _at(name, lambda: self._node(found.get("type"), space))
        return Member(name, kind, _texts(found, "aliases"), found.get("default", MISSING))


def _require_ends(names: Mapping[str, Named]) -> None:
    """Raises ValueError where a record holds itself not only in a union, an array or a map."""
    held = {
        name: [each.type.name for each in found.fields if isinstance(each.type, Ref)]
        for name, found in names.items()
        if isinstance(found, RecordType)
    }
    try:
        TopologicalSorter(held).prepare()
    except CycleError as problem:
        around = " in ".join(problem.args[1])
        raise ValueError(f"{around}: expected a record that can end, found one in itself") from None


def _at(place: str, read: Any) -> Any:
    """What `read` gives; a refusal says where."""
    try:
        return read()
    except ValueError as problem:
        raise ValueError(f"{place}: {problem}") from None


def _defined_name(found: dict[str, Any], space: str) -> tuple[str, str]:
    """The full name of a definition, and the name space inside it."""
    name, own = found.get("name"), found.get("namespace", space)
    if not isinstance(name, str) or not isinstance(own, str):
        raise ValueError(f"expected a name, found {_shown(name)}")
    full = full_name(name, own)
    for part in full.split("."):
        _simple(part)
    return full, full.rpartition(".")[0]


def full_name(name: str, space: str) -> str:
    """A type's name with its name space: that around it, unless it has its own."""
    return f"{space}.{name}" if space and "." not in name else name.removeprefix(".")


def _simple(name: Any) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"expected a name of letters, digits and _, found {_shown(name)}")
    return name


def _texts(found: dict[str, Any], key: str) -> tuple[str, ...]:
    texts = found.get(key) or []
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise ValueError(f"{key}: expected a list of names, found {_shown(texts)}")
    return tuple(texts)


def _enum(found: dict[str, Any], name: str, aliases: tuple[str, ...]) -> Enum:
    symbols, default = _texts(found, "symbols"), found.get("default")
    for each in symbols:
        _simple(each)
    if len({*symbols}) < len(symbols):
        raise ValueError(f"{name}: a symbol is declared twice")
    if default is not None and default not in symbols:
        raise ValueError(f"{name}: default: expected one of its symbols, found {_shown(default)}")
    return Enum(name, aliases, symbols, default)


def _fixed(found: dict[str, Any], name: str, aliases: tuple[str, ...]) -> Fixed:
    size = found.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 2**31:
        raise ValueError(f"{name}: size: expected a number of bytes, found {_shown(size)}")
    return Fixed(name, aliases, size, _logical(found, "fixed", size))


def _logical(found: dict[str, Any], carrier: str, size: int) -> Logical | None:
    """None also where the type cannot be what it says: then Avro reads it as the plain type."""
    name = found.get("logicalType")
    if not isinstance(name, str) or carrier not in LOGICAL.get(name, ()):
        return None
    if name == "decimal":
        return _decimal(found, carrier, size)
    return Logical(name) if carrier != "fixed" or size == _SIZES[name] else None


def _decimal(found: dict[str, Any], carrier: str, size: int) -> Logical | None:
    precision, scale = found.get("precision"), found.get("scale", 0)
    if type(precision) is not int or type(scale) is not int or not 0 <= scale <= precision:
        return None
    if precision < 1 or (carrier == "fixed" and precision > most_digits(size)):
        return None
    return Logical("decimal", precision, scale)


def _shown(found: Any) -> str:
    return json.dumps(found, default=str)[:100]
