"""Columns of a JSON schema, of any draft from 4 to 2020-12. Pure.

What a schema leaves open, such as one of several types, is STRING: the JSON text of the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, reduce
from itertools import count
from typing import Any

from sluice.columns.columns import DEEPEST, Array, Column, ColumnType, Map, Primitive, Struct
from sluice.columns.declared import ELEMENT, Declared, Note, Place, path_of
from sluice.columns.twins import kept_first
from sluice.schemas.json.declared_fields import DeclaredFields, TooLarge
from sluice.schemas.json.merging import (
    BIGINT,
    DOUBLE,
    OBJECT,
    OPEN,
    STRING,
    TEXT,
    Said,
    in_either,
    settled,
)
from sluice.schemas.json.references import Node, root_of
from sluice.schemas.registered import RegisteredSchema

_SCALARS = {"integer": BIGINT, "number": DOUBLE, "boolean": Primitive("BOOLEAN"), "null": OPEN}
_TEXTS = {"date-time": Primitive("TIMESTAMP"), "date": Primitive("DATE")}
_NAMES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
    type(None): "null",
}
# The one column of records that are not objects with properties.
ALONE = "value"
# Names of parts that hold only sometimes, each beside its own schema.
_DEPENDENT = ("dependentSchemas", "dependencies")


def json_schema_declared(schema: RegisteredSchema) -> Declared:
    """The columns, and what they do not hold.

    Where records are not objects with properties, the one column has them as JSON text. If a schema
    has too many fields, the objects below as many levels as fit are JSON text.
    """
    reading, found = _read(schema)
    if isinstance(found, Struct):
        return reading.fields.declared(Struct(kept_first(found.fields, schema.kept)))
    _require_json_schema(root_of(schema).content)
    return Declared((Column(ALONE, STRING),), as_text=(Note((), "no object with properties"),))


def describes_objects(schema: RegisteredSchema) -> bool:
    """Whether the records are objects with properties, so that these are the columns."""
    return isinstance(_read(schema)[1], Struct)


# A spec asks for its columns again and again.
@lru_cache(maxsize=64)
def _read(schema: RegisteredSchema) -> tuple[_Reading, ColumnType]:
    """The schema's type, to the deepest level with which it is not too large."""
    root = root_of(schema)
    try:
        return _read_to(root, None)
    except TooLarge:
        fitting = _read_to(root, 1)
    with suppress(TooLarge):
        for deepest in count(2):
            fitting = _read_to(root, deepest)
    return fitting


def _read_to(root: Node, deepest: int | None) -> tuple[_Reading, ColumnType]:
    reading = _Reading(deepest)
    return reading, settled(reading.said_of(root, ()).whole)


def _require_json_schema(content: Any) -> None:
    """Raises ValueError for other JSON, such as an Avro schema."""
    declared = content.get("type", []) if isinstance(content, dict) else []
    names = declared if isinstance(declared, list) else [declared]
    if others := [each for each in names if each not in _NAMES.values()]:
        raise ValueError(f"expected a JSON schema, found the type {others[0]!r}, which it has not")


class _Reading:
    """One reading of a schema: it remembers which parts are open, and which fields it met."""

    def __init__(self, deepest: int | None) -> None:
        self._deepest = deepest
        self._open: list[int] = []
        self.fields = DeclaredFields()

    def said_of(self, node: Node, place: Place) -> Said:
        """What a part says of the type of its values."""
        content = node.content
        if not isinstance(content, dict):
            return Said()
        self.fields.visits(place)
        if id(content) in self._open:
            self.fields.recurs(place)
            return Said(TEXT)
        if len(self._open) > 3 * DEEPEST:
            raise ValueError(f"{path_of(place)}: nested too deeply")
        self._open.append(id(content))
        found = reduce(Said.or_some, self._sometimes(node, place), self._always(node, place))
        self._open.pop()
        return found

    def _always(self, node: Node, place: Place) -> Said:
        """What all parts that hold for each value say together."""
        found = [self._own(node, place)]
        if "$ref" in node.content:
            try:
                referenced = node.referenced()
            except ValueError as problem:
                raise ValueError(f"{path_of(place)}: {problem}") from None
            found.append(self.said_of(referenced, place))
        found += (self.said_of(each, place) for each in _listed(node, "allOf"))
        return reduce(Said.together, found)

    def _sometimes(self, node: Node, place: Place) -> Iterator[ColumnType]:
        for key in ("oneOf", "anyOf"):
            yield self._either(_listed(node, key), place)
        yield self._either(_named(node, ("then", "else")), place)
        # What it says, it says of some values only; its names are names of fields all the same.
        for each in _named(node, ("if",)):
            yield _names_only(self.said_of(each, place).whole)
        for key in _DEPENDENT:
            for each in _parts(node, key).values():
                yield self.said_of(each, place).whole

    def _either(self, parts: Iterable[Node], place: Place) -> ColumnType:
        return reduce(in_either, (self.said_of(each, place).whole for each in parts), OPEN)

    def _own(self, node: Node, place: Place) -> Said:
        """What a part says by itself, without those that it leads to."""
        name = _own_type(node.content)
        fields, elements = self._object(node, place), self._array(node, place)
        match name:
            case None:
                return Said()
            case "object":
                return fields
            case "array":
                return elements
            case "string":
                return Said(_text(node.content))
        return Said(_SCALARS.get(name, TEXT))

    def _object(self, node: Node, place: Place) -> Said:
        content = node.content
        if not isinstance(content.get("properties") or {}, dict):
            raise ValueError(f"{path_of(place)}: properties: expected names with schemas")
        if content.get("properties") and self._deepest is not None and len(place) >= self._deepest:
            self.fields.is_too_deep(place)
            return Said(TEXT)
        columns = {
            name: self.said_of(each, (*place, name))
            for name, each in _parts(node, "properties").items()
            if self.fields.meets((*place, name)) and each.content is not False
        }
        others = self._others(node, place)
        if not columns:
            return others
        some = {name: each.sometimes for name, each in columns.items() if each.sometimes != OPEN}
        return Said(
            _struct({name: each.always for name, each in columns.items()}),
            _struct(some) if some else OPEN,
        )

    def _others(self, node: Node, place: Place) -> Said:
        """What an object says of names that it does not declare."""
        below = (*place, ELEMENT)
        others = [self.said_of(each, below) for each in _named(node, ("additionalProperties",))]
        patterns = _parts(node, "patternProperties")
        for pattern, each in patterns.items():
            others.append(self.said_of(each, below))
            self.fields.leaves_open(place, f"names like {pattern}")
        if isinstance(node.content.get("additionalProperties"), dict):
            self.fields.leaves_open(place, "any other name")
        if not others:
            return Said(OBJECT)
        if not patterns:
            return others[0].within(Map)
        # Each of them speaks of some names only.
        return Said(Map(OPEN), Map(reduce(in_either, (each.whole for each in others))))

    def _array(self, node: Node, place: Place) -> Said:
        place = (*place, ELEMENT)
        items = [self.said_of(each, place) for each in _named(node, ("items",))]
        # It speaks of one element at least, and not of each.
        some = [self.said_of(each, place).whole for each in _named(node, ("contains",))]
        tuples = [*_listed(node, "items"), *_listed(node, "prefixItems")]
        for each in tuples:
            self.said_of(each, place)
        if tuples:
            return Said(Array(TEXT))
        each_one = reduce(Said.together, items, Said())
        return reduce(Said.or_some, map(_names_only, some), each_one).within(Array)


def _struct(types: Mapping[str, ColumnType]) -> Struct:
    return Struct(tuple(Column(name, kind) for name, kind in types.items()))


def _names_only(found: ColumnType) -> ColumnType:
    if not isinstance(found, Struct):
        return OPEN
    return Struct(tuple(Column(each.name, _names_only(each.type)) for each in found.fields))


def _listed(node: Node, key: str) -> list[Node]:
    listed = node.content.get(key)
    return [node.part(each) for each in listed] if isinstance(listed, list) else []


def _named(node: Node, keys: Sequence[str]) -> list[Node]:
    return [node.part(node.content[e]) for e in keys if isinstance(node.content.get(e), dict)]


def _parts(node: Node, key: str) -> dict[str, Node]:
    """Parts by their names."""
    named = node.content.get(key)
    parts = named if isinstance(named, dict) else {}
    return {name: node.part(each) for name, each in parts.items() if not isinstance(each, list)}


def _own_type(content: Mapping[str, Any]) -> str | None:
    """The one type beside null that the part itself names; `several`, or None if it names none."""
    declared = content.get("type")
    if declared is None:
        return _implied_type(content)
    names = [declared] if isinstance(declared, str) else declared
    return _one_of(names) if isinstance(names, list) else "several"


def _implied_type(content: Mapping[str, Any]) -> str | None:
    for key in ("const", "enum"):
        if key in content:
            values = [content[key]] if key == "const" else content[key]
            listed = values if isinstance(values, list) else []
            return _one_of([_NAMES[type(each)] for each in listed])
    if content.get("properties"):
        return "object"
    return "array" if isinstance(content.get("items"), dict) else None


def _one_of(names: Sequence[Any]) -> str:
    different = {str(each) for each in names} - {"null"}
    if different == {"integer", "number"}:
        return "number"
    if not different:
        return "null"
    return different.pop() if len(different) == 1 else "several"


def _text(content: Mapping[str, Any]) -> ColumnType:
    if content.get("contentEncoding") == "base64":
        return Primitive("BINARY")
    return _TEXTS.get(str(content.get("format")), STRING)
