"""Columns of a JSON schema, of any draft from 4 to 2020-12. Pure.

What a schema leaves open, such as one of several types, is STRING: the JSON text of the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from sluice.columns.columns import (
    DEEPEST,
    Array,
    Column,
    ColumnType,
    Map,
    Primitive,
    Struct,
    require_name,
)
from sluice.schemas.json.references import Node, root_of
from sluice.schemas.registered import RegisteredSchema

_MOST_FIELDS = 10_000
_STRING = Primitive("STRING")
_SCALARS = {
    "integer": Primitive("BIGINT"),
    "number": Primitive("DOUBLE"),
    "boolean": Primitive("BOOLEAN"),
}
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
_ALTERNATIVES = ("oneOf", "anyOf")


def json_schema_columns(schema: RegisteredSchema) -> tuple[Column, ...]:
    """The columns. Raises ValueError for what no table can hold, by its name."""
    found = _Reading().type_of(root_of(schema), "")
    if not isinstance(found, Struct):
        raise ValueError(f"expected a schema of objects with properties, found one of {found}")
    return found.fields


class _Reading:
    """One reading of a schema: it remembers which parts are open, and how many fields it met."""

    def __init__(self) -> None:
        self._open: list[int] = []
        self._fields = 0

    def type_of(self, node: Node, path: str) -> ColumnType:
        """The type of a part's values; `path` is for errors."""
        content = node.content
        if not isinstance(content, dict):
            return _STRING
        if id(content) in self._open:
            raise ValueError(
                f"{_where(path)}the schema is recursive; no table can hold it. Declare the columns"
                " with the key schema, and that field as STRING: the JSON text"
            )
        if len(self._open) > 3 * DEEPEST:
            raise ValueError(f"{_where(path)}nested too deeply")
        self._open.append(id(content))
        found = self._type(node, path)
        self._open.pop()
        return found

    def _type(self, node: Node, path: str) -> ColumnType:
        if "$ref" in node.content:
            try:
                target = node.referenced()
            except ValueError as problem:
                raise ValueError(f"{_where(path)}{problem}") from None
            return self.type_of(target, path)
        name = _own_type(node.content)
        if name == "object":
            return self._object(node, path)
        if name == "array":
            items = node.content.get("items")
            element = self.type_of(node.part(items), f"{path}[]") if items else _STRING
            return Array(element)
        if name == "string":
            return _text(node.content)
        if name is not None:
            return _SCALARS.get(name, _STRING)
        return self._composed(node, path)

    def _composed(self, node: Node, path: str) -> ColumnType:
        """Alternatives, or parts that all hold: the type that they have in common."""
        parts = [node.part(each) for each in _parts(node.content)]
        found = [self.type_of(each, path) for each in parts if not _says_nothing(each)]
        if not found:
            return _STRING
        structs = [each for each in found if isinstance(each, Struct)]
        if "allOf" in node.content and structs:
            whole = reduce(_with_fields_of, structs)
            return Struct(tuple(_checked(whole.fields, path)))
        return found[0] if all(each == found[0] for each in found) else _STRING

    def _object(self, node: Node, path: str) -> ColumnType:
        properties = node.content.get("properties") or {}
        if not isinstance(properties, dict):
            raise ValueError(f"{_where(path)}properties: expected names with schemas")
        if "allOf" in node.content:
            rest = {key: each for key, each in node.content.items() if key not in ("allOf", "type")}
            own = [rest] if properties else []
            return self._composed(node.part({"allOf": [*own, *_parts(node.content)]}), path)
        if not properties:
            return self._open_object(node, path)
        self._fields += len(properties)
        if self._fields > _MOST_FIELDS:
            raise ValueError(f"expected at most {_MOST_FIELDS} fields, found more")
        columns = (
            Column(name, self.type_of(node.part(each), f"{path}.{name}" if path else name))
            for name, each in properties.items()
        )
        return Struct(tuple(_checked(columns, path)))

    def _open_object(self, node: Node, path: str) -> ColumnType:
        """Without declared members: a map where all of them have one schema."""
        value = node.content.get("additionalProperties")
        if not isinstance(value, dict) or node.content.get("patternProperties"):
            return _STRING
        return Map(self.type_of(node.part(value), f"{path}[]"))


def _with_fields_of(one: Struct, other: Struct) -> Struct:
    fields = {each.name: each.type for each in one.fields}
    for each in other.fields:
        known = fields.get(each.name)
        fields[each.name] = each.type if known is None else _both(known, each.type)
    return Struct(tuple(Column(name, kind) for name, kind in fields.items()))


def _both(one: ColumnType, other: ColumnType) -> ColumnType:
    """The type of a value that two parts describe, in either order; a part may state no type."""
    if one == other or other == _STRING:
        return one
    if isinstance(one, Struct) and isinstance(other, Struct):
        return _with_fields_of(one, other)
    if {one, other} == {_SCALARS["integer"], _SCALARS["number"]}:
        return _SCALARS["integer"]
    return other if one == _STRING else _STRING


def _checked(columns: Iterable[Column], path: str) -> Iterator[Column]:
    seen: set[str] = set()
    for each in columns:
        try:
            require_name(each.name, seen)
        except ValueError as problem:
            raise ValueError(f"{_where(path)}{problem}") from None
        yield each


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
    return different.pop() if len(different) == 1 else "several"


def _text(content: Mapping[str, Any]) -> ColumnType:
    if content.get("contentEncoding") == "base64":
        return Primitive("BINARY")
    return _TEXTS.get(str(content.get("format")), _STRING)


def _parts(content: Mapping[str, Any]) -> list[Any]:
    for key in ("allOf", *_ALTERNATIVES):
        if isinstance(content.get(key), list):
            return [each for each in content[key] if not _is_null(each)]
    return []


def _is_null(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    return (
        part.get("type") in ("null", ["null"])
        or part == {"const": None}
        or part.get("enum") == [None]
    )


def _says_nothing(node: Node) -> bool:
    """Whether a part only limits values, and has no type, such as `{"required": ["id"]}`."""
    content = node.content
    if not isinstance(content, dict) or "$ref" in content:
        return False
    return _own_type(content) is None and not _parts(content)


def _where(path: str) -> str:
    return f"{path}: " if path else ""
