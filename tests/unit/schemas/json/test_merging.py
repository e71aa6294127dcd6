"""What several parts of a JSON schema say of one value."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sluice.columns.columns import Array, ColumnType, Map, Primitive, Struct, parse_columns
from sluice.schemas.json.columns import json_schema_declared
from sluice.schemas.registered import RegisteredSchema

TEXT, WHOLE, NUMBER = ({"type": each} for each in ("string", "integer", "number"))
DATE = {"type": "string", "format": "date"}


def of_x(schema: Any, **more: Any) -> str:
    """The type of a property of this schema."""
    whole = {"type": "object", "properties": {"x": schema}, **more}
    (column,) = json_schema_declared(RegisteredSchema("7", "JSON", json.dumps(whole))).columns
    return str(column.type)


IF_SO = {"if": {"properties": {"k": {"const": "a"}}}}
SOMETIMES: list[tuple[Any, str]] = [
    ({"allOf": [{"if": {}, "then": WHOLE}, {"if": {}, "then": NUMBER}]}, "DOUBLE"),
    ({"allOf": [{"if": {}, "then": DATE}, {"if": {}, "else": TEXT}]}, "STRING"),
    ({**NUMBER, "allOf": [{"if": {}, "then": WHOLE}]}, "DOUBLE"),
    ({"allOf": [{"anyOf": [WHOLE, {}]}, NUMBER]}, "DOUBLE"),
    ({"allOf": [{"allOf": [{"if": {}, "then": WHOLE}]}, NUMBER]}, "DOUBLE"),
    ({"allOf": [{"$ref": "#/d/some"}, NUMBER]}, "DOUBLE"),
    ({"allOf": [{"dependentSchemas": {"a": DATE}}, TEXT]}, "STRING"),
    (
        {"allOf": [{"type": "array", "items": {"if": {}, "then": WHOLE}}, {"items": NUMBER}]},
        "ARRAY<DOUBLE>",
    ),
    (
        {
            "allOf": [
                {"properties": {"a": {"if": {}, "then": WHOLE}}},
                {"properties": {"a": NUMBER}},
            ]
        },
        "STRUCT<`a`: DOUBLE>",
    ),
    (
        {
            "type": "object",
            "allOf": [
                {"type": "object", "additionalProperties": {"if": {}, "then": WHOLE}},
                {"type": "object", "additionalProperties": NUMBER},
            ],
        },
        "MAP<STRING, DOUBLE>",
    ),
    (
        {
            "type": "object",
            "allOf": [
                {"type": "object", "patternProperties": {"^a": WHOLE}},
                {"type": "object", "additionalProperties": NUMBER},
            ],
        },
        "MAP<STRING, DOUBLE>",
    ),
    (
        {
            "allOf": [
                {"properties": {"a": {"if": {}, "then": WHOLE}}},
                {"type": "object", "patternProperties": {"^b": WHOLE}},
            ]
        },
        "STRUCT<`a`: BIGINT>",
    ),
]


@pytest.mark.parametrize(("schema", "found"), SOMETIMES, ids=str)
def test_what_a_part_of_all_says_of_some_values_narrows_nothing(schema: Any, found: str) -> None:
    assert of_x(schema, d={"some": {"if": {}, "then": WHOLE}}) == found


def test_branches_of_several_kinds_of_records_have_one_column_for_all() -> None:
    """As event schemas have them: a condition for each kind, side by side in `allOf`."""
    kinds = {"a": WHOLE, "b": NUMBER, "c": {"type": "null"}}
    branches = [
        {"if": {"properties": {"kind": {"const": kind}}}, "then": {"properties": {"x": each}}}
        for kind, each in kinds.items()
    ]
    schema = {"type": "object", "properties": {"kind": TEXT}, "allOf": branches}
    found = json_schema_declared(RegisteredSchema("7", "JSON", json.dumps(schema))).columns
    assert found == parse_columns("kind STRING, x DOUBLE")


NAMES = st.sampled_from(["a", "b"])
SCALARS = st.sampled_from([TEXT, WHOLE, NUMBER, DATE])
PARTS = (
    SCALARS
    | SCALARS.map(lambda x: {"properties": {"a": x}})
    | SCALARS.map(lambda x: {"type": "array", "items": x})
)
WAYS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda part, condition: {"if": condition, "then": part},
    lambda part, condition: {"if": condition, "else": part},
    lambda part, _: {"anyOf": [part, {}]},
    lambda part, _: {"oneOf": [part, {"not": part}]},
    lambda part, _: {"dependentSchemas": {"a": part}},
    lambda part, _: {"properties": {"a": {"anyOf": [part, {}]}}},
    lambda part, condition: {"items": {"if": condition, "else": part}},
    lambda part, _: {"additionalProperties": {"anyOf": [part, {}]}},
    lambda part, _: {"allOf": [{"anyOf": [part, {}]}]},
)
SOME = st.builds(lambda way, *given: way(*given), st.sampled_from(WAYS), PARTS, PARTS)


def dressed(whole: Any, some: list[Any]) -> Any:
    """A schema with parts in `allOf` that say something of some values."""
    return {**whole, "allOf": some}


DRESSED = st.builds(dressed, SCALARS, st.lists(SOME, min_size=1, max_size=2))
WHOLES = DRESSED | st.builds(
    dressed,
    st.dictionaries(NAMES, DRESSED, min_size=1).map(lambda x: {"type": "object", "properties": x})
    | DRESSED.map(lambda x: {"type": "array", "items": x})
    | DRESSED.map(lambda x: {"type": "object", "additionalProperties": x}),
    st.lists(SOME, max_size=2),
)


def values(schema: Any) -> st.SearchStrategy[Any]:
    """Values of what the schema says of all values."""
    match schema:
        case {"type": "object", "properties": parts}:
            return st.fixed_dictionaries({}, optional={k: values(v) for k, v in parts.items()})
        case {"type": "object", "additionalProperties": part}:
            return st.dictionaries(NAMES, values(part), max_size=2)
        case {"type": "array", "items": part}:
            return st.lists(values(part), max_size=2)
        case {"format": "date"}:
            return st.just("2026-01-31")
        case {"type": "integer"}:
            return st.integers(-9, 9)
        case {"type": "number"}:
            return st.sampled_from([1, 1.5])
    return st.sampled_from(["", "x", "2026-01-31"])


def fits(value: Any, kind: ColumnType) -> bool:
    """Whether the decoder takes a value for this type (docs/formats.md)."""
    match kind:
        case Struct(fields):
            return isinstance(value, dict) and all(
                fits(value[each.name], each.type) for each in fields if each.name in value
            )
        case Map(inner):
            return isinstance(value, dict) and all(fits(each, inner) for each in value.values())
        case Array(inner):
            return isinstance(value, list) and all(fits(each, inner) for each in value)
        case Primitive("BIGINT"):
            return type(value) is int
        case Primitive("DOUBLE"):
            return type(value) in (int, float)
        case Primitive("DATE"):
            return value == "2026-01-31"
    return kind == Primitive("STRING")


@pytest.mark.patient
@settings(max_examples=500, deadline=None, database=None)
@given(st.data())
def test_no_value_that_the_schema_accepts_is_refused_by_its_column(data: st.DataObject) -> None:
    """Of schemas that say what all values are, and in `allOf` what some of them are."""
    x = data.draw(WHOLES)
    some = data.draw(st.lists(values(x), min_size=1, max_size=5))
    schema = {"type": "object", "properties": {"x": x}}
    found = json_schema_declared(RegisteredSchema("7", "JSON", json.dumps(schema))).columns
    accepts = jsonschema.Draft202012Validator(schema).is_valid
    for each in some:
        assert fits({"x": each}, Struct(found)) or not accepts({"x": each}), found
