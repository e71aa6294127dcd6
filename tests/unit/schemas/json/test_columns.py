"""The columns of a JSON schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sluice.columns.columns import Struct, parse_columns
from sluice.columns.declared import Place
from sluice.schemas.json.columns import (
    describes_objects,
    json_schema_declared,
)
from sluice.schemas.registered import Reference, RegisteredSchema

from tests.worlds.held_places import is_held


def registered(schema: Any, **references: Any) -> RegisteredSchema:
    named = tuple(
        Reference(name.replace("__", "."), json.dumps(text)) for name, text in references.items()
    )
    return RegisteredSchema("7", "JSON", json.dumps(schema), named)


def of_x(schema: Any, **more: Any) -> str:
    """The type of a property of this schema."""
    (column,) = json_schema_declared(
        registered({"type": "object", "properties": {"x": schema}, **more})
    ).columns
    return str(column.type)


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
PAIR = {"type": "object", "properties": {"a": TEXT, "b": WHOLE}}
PAIR_TYPE = "STRUCT<`a`: STRING, `b`: BIGINT>"
TYPES: list[tuple[Any, str]] = [
    (TEXT, "STRING"),
    (WHOLE, "BIGINT"),
    ({"type": "number"}, "DOUBLE"),
    ({"type": "boolean"}, "BOOLEAN"),
    ({"type": "string", "format": "date-time"}, "TIMESTAMP"),
    ({"type": "string", "format": "date"}, "DATE"),
    ({"type": "string", "format": "uuid"}, "STRING"),
    ({"type": "string", "contentEncoding": "base64"}, "BINARY"),
    ({"type": ["null", "integer"]}, "BIGINT"),
    ({"type": ["integer", "number"]}, "DOUBLE"),
    ({"type": ["string", "integer"]}, "STRING"),
    ({"type": "null"}, "STRING"),
    ({}, "STRING"),
    (True, "STRING"),
    ({"enum": ["a", "b", None]}, "STRING"),
    ({"enum": [1, 2]}, "BIGINT"),
    ({"enum": [1, "b"]}, "STRING"),
    ({"const": "a"}, "STRING"),
    ({"const": True}, "BOOLEAN"),
    ({"oneOf": [{"type": "null"}, WHOLE]}, "BIGINT"),
    ({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}, "DATE"),
    ({"oneOf": [TEXT, WHOLE]}, "STRING"),
    ({"oneOf": [{"const": "a"}, {"const": "b"}]}, "STRING"),
    ({"type": "array", "items": WHOLE}, "ARRAY<BIGINT>"),
    ({"type": "array"}, "ARRAY<STRING>"),
    ({"type": "array", "items": [WHOLE, TEXT]}, "ARRAY<STRING>"),
    ({"type": "array", "prefixItems": [WHOLE]}, "ARRAY<STRING>"),
    (PAIR, PAIR_TYPE),
    ({"properties": PAIR["properties"]}, PAIR_TYPE),
    ({**PAIR, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, PAIR_TYPE),
    ({"allOf": [PAIR, {"properties": {"c": WHOLE}}]}, f"{PAIR_TYPE[:-1]}, `c`: BIGINT>"),
    (
        {"type": "object", "properties": {"c": WHOLE}, "allOf": [PAIR, {"required": ["a"]}]},
        "STRUCT<`c`: BIGINT, `a`: STRING, `b`: BIGINT>",
    ),
    ({"type": "object", "additionalProperties": WHOLE}, "MAP<STRING, BIGINT>"),
    ({"type": "object", "additionalProperties": {}}, "MAP<STRING, STRING>"),
    ({"type": "object", "additionalProperties": False}, "STRING"),
    ({"type": "object"}, "STRING"),
]


@pytest.mark.parametrize(("schema", "found"), TYPES, ids=str)
def test_a_property_has_the_type_of_its_schema(schema: Any, found: str) -> None:
    assert of_x(schema) == found


LIMITS: list[tuple[Any, Any, str]] = [
    (WHOLE, {"minimum": 0}, "BIGINT"),
    (WHOLE, {"type": "number"}, "BIGINT"),
    ({"type": "string"}, {"format": "date-time", "type": "string"}, "TIMESTAMP"),
    ({"properties": {"a": WHOLE}}, {"properties": {"a": {"maximum": 9}}}, "STRUCT<`a`: BIGINT>"),
    (WHOLE, {"type": "boolean"}, "STRING"),
]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("one", "other", "found"), LIMITS, ids=str)
def test_parts_that_all_hold_are_one_in_either_order(
    one: Any, other: Any, found: str, turned: bool
) -> None:
    """A part that only limits a value says nothing of its type."""
    parts = [{"properties": {"a": one}}, {"properties": {"a": other}}]
    whole = {"allOf": parts[::-1] if turned else parts}
    assert of_x(whole) == f"STRUCT<`a`: {found}>"


def test_properties_are_the_columns_in_their_order() -> None:
    schema = {"type": "object", "properties": {"z": TEXT, "a": WHOLE, "Né-1": {"type": "boolean"}}}
    columns = json_schema_declared(registered(schema)).columns
    assert columns == parse_columns("z STRING, a BIGINT, `Né-1` BOOLEAN")


@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12", None])
def test_references_lead_to_parts_of_the_schema(draft: str | None) -> None:
    later = (draft or "").startswith("20")
    at = "https://json-schema.org/draft/{}/schema" if later else "http://json-schema.org/{}/schema#"
    place = "$defs" if later else "definitions"
    schema = {
        **({"$schema": at.format(draft)} if draft else {}),
        ("id" if draft == "draft-04" else "$id"): "http://example.com/order.json",
        place: {"a/b": {"$ref": f"#/{place}/pair"}, "pair": PAIR},
    }
    assert of_x({"$ref": f"#/{place}/a~1b"}, **schema) == PAIR_TYPE


@pytest.mark.parametrize("own", [{}, {"$id": "http://example.com/schemas/order.json"}], ids=str)
def test_references_lead_to_schemas_that_the_registry_names(own: Any) -> None:
    line = {"type": "array", "items": {"$ref": "money.json#/definitions/pair"}}
    schema = {"type": "object", "properties": {"x": {"$ref": "line.json"}}, **own}
    money = {"definitions": {"pair": PAIR}}
    (x,) = json_schema_declared(registered(schema, line__json=line, money__json=money)).columns
    assert str(x.type) == f"ARRAY<{PAIR_TYPE}>"


def test_the_whole_schema_may_be_a_reference_or_an_object_or_null() -> None:
    for whole in ({"$ref": "#/definitions/pair"}, {"oneOf": [{"type": "null"}, PAIR]}):
        columns = json_schema_declared(registered({**whole, "definitions": {"pair": PAIR}})).columns
        assert columns == parse_columns("a STRING, b BIGINT")


WHOLE_RECORDS: list[Any] = [
    {"type": "array", "items": PAIR},
    {"type": "array", "items": [WHOLE, TEXT]},
    TEXT,
    {"type": ["string", "null"]},
    {"oneOf": [PAIR, {"type": "array"}]},
    {"anyOf": [{"$ref": "#/definitions/x"}, TEXT], "definitions": {"x": PAIR}},
    {"type": "object"},
    {"type": "object", "properties": {}},
    {"type": "object", "additionalProperties": WHOLE},
    {"$ref": "#"},
    {},
    True,
]


@pytest.mark.parametrize("schema", WHOLE_RECORDS, ids=str)
def test_records_that_are_no_objects_with_properties_are_one_column(schema: Any) -> None:
    found = registered(schema)
    assert json_schema_declared(found).columns == parse_columns("value STRING")
    assert not describes_objects(found)
    assert [str(each) for each in json_schema_declared(found).as_text] == [
        "$: no object with properties"
    ]


def test_several_kinds_of_objects_have_the_fields_of_all() -> None:
    parts = {"lunch": {"properties": {"lunch": TEXT}}, "snow": {"properties": {"depth": WHOLE}}}
    refs = [{"$ref": f"{each}.json"} for each in parts]
    found = registered({"oneOf": refs}, lunch__json=parts["lunch"], snow__json=parts["snow"])
    assert json_schema_declared(found).columns == parse_columns("lunch STRING, depth BIGINT")
    assert describes_objects(found)


NODE = {"type": "object", "properties": {"up": {"oneOf": [{"type": "null"}, {"$ref": "#/d/node"}]}}}
IDS = {"properties": {"id": WHOLE}}
FEW: list[tuple[Any, str, list[str], list[str]]] = [
    (
        {"properties": {"a b": TEXT, "": TEXT, "_key": TEXT, "ok": TEXT}},
        "ok STRING",
        ["$['a b']: a column name must not", "$['']: a column", "$._key: Sluice"],
        [],
    ),
    (
        {"properties": {"s": {"properties": {"a": TEXT, "A": TEXT, "b.c": TEXT}}}},
        "s STRUCT<a: STRING, `b.c`: STRING>",
        ["$.s.A: declared twice"],
        [],
    ),
    ({"properties": {"s": {"properties": {"a b": TEXT}}}}, "s STRING", [], ["$.s: values of"]),
    ({"properties": {"q": {"$ref": "#"}}}, "q STRING", [], ["$.q: the schema holds itself"]),
    (
        {"properties": {"q": {"$ref": "#/d/node"}}, "d": {"node": NODE}},
        "q STRUCT<up: STRING>",
        [],
        ["$.q.up: the schema holds itself"],
    ),
    (
        {"properties": {"x": {"oneOf": [TEXT, PAIR]}}},
        "x STRING",
        [],
        ["$.x: values of several shapes"],
    ),
    (
        {
            "properties": {"id": WHOLE},
            "additionalProperties": TEXT,
            "patternProperties": {"^x": TEXT},
        },
        "id BIGINT",
        ["$: fields with names like ^x", "$: fields with any other name"],
        [],
    ),
    (
        {"properties": {"l": {"type": "array", "items": [PAIR, TEXT]}}},
        "l ARRAY<STRING>",
        [],
        ["$.l[*]: values of several shapes"],
    ),
]


@pytest.mark.parametrize(("schema", "columns", "unread", "as_text"), FEW, ids=str)
def test_what_no_column_holds_is_told(
    schema: Any, columns: str, unread: list[str], as_text: list[str]
) -> None:
    found = json_schema_declared(registered(schema))
    assert found.columns == parse_columns(columns)
    for notes, told in ((found.unread, unread), (found.as_text, as_text)):
        assert len(notes) == len(told), notes
        for note, expected in zip(notes, told, strict=True):
            assert str(note).startswith(expected)


def ways(names: dict[str, Any]) -> dict[str, Any]:
    """The same properties, declared in each of the ways that schemas of the world have."""
    part = {"properties": names}
    return {
        "properties": {"id": WHOLE},
        "oneOf": {"oneOf": [part, {"required": ["id"]}]},
        "anyOf": {"anyOf": [{"properties": {"id": WHOLE}}, part]},
        "then": {"if": {"properties": {"id": {"const": 1}}}, "then": part},
        "else": {"if": {"required": ["id"]}, "else": part},
        "allOf in oneOf": {"oneOf": [{"allOf": [part]}]},
        "beside $ref": {"$ref": "#/d/pair", **part},
        "in a $ref": {"allOf": [{"$ref": "#/d/more"}], "d": {"more": part}},
        "dependentSchemas": {"dependentSchemas": {"id": part}},
        "if": {"if": part},
    }


@pytest.mark.parametrize("way", sorted(set(ways({})) - {"properties"}))
def test_a_field_that_is_declared_anywhere_is_a_column(way: str) -> None:
    whole = {
        "type": "object",
        "properties": {"id": WHOLE},
        "d": {"pair": PAIR},
        **ways({"last4": TEXT, "iban": TEXT})[way],
    }
    whole["d"] |= {"pair": PAIR}
    found = json_schema_declared(registered(whole))
    assert {"last4", "iban"} <= {each.name for each in found.columns}
    assert not found.unread


def test_what_holds_only_sometimes_narrows_no_column() -> None:
    dated = {"properties": {"x": {"type": "string", "format": "date"}}}
    for sometimes in ({"then": dated}, {"oneOf": [dated, {}]}, {"dependentSchemas": {"x": dated}}):
        (x,) = json_schema_declared(registered({"properties": {"x": TEXT}, **sometimes})).columns
        assert str(x.type) == "STRING"


NO_TABLE: list[tuple[Any, str]] = [
    ({"type": "record", "name": "R"}, "expected a JSON schema, found the type 'record'"),
    ({"type": ["array", "lst"]}, "expected a JSON schema, found the type 'lst'"),
    ({"type": {"type": "map"}}, "expected a JSON schema, found the type "),
    ({"properties": {"q": {"$ref": "#/none"}}}, r"q: found \$ref: '#/none'"),
    ({"properties": {"q": {"$ref": "http://example.com/other.json"}}}, r"q: found \$ref"),
    ({"properties": {"q": {"$ref": 5}}}, r"q: found \$ref: '5'"),
    ({"properties": [1]}, "properties: expected names with schemas"),
    ({"$id": 5}, "malformed"),
]


@pytest.mark.parametrize(("schema", "message"), NO_TABLE, ids=str)
def test_what_no_table_can_hold_is_refused_by_name(schema: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        json_schema_declared(registered(schema))


@pytest.mark.parametrize("text", ["", "{", "5", '"string"', "[" * 100_000, '{"a":' * 5_000])
def test_a_text_that_is_no_schema_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a JSON schema"):
        json_schema_declared(RegisteredSchema("7", "JSON", text))


def test_of_a_schema_that_unfolds_to_millions_of_fields_the_deep_ones_are_text() -> None:
    tens = {
        f"d{n}": {"properties": {f"f{k}": {"$ref": f"#/d/d{n + 1}"} for k in range(10)}}
        for n in range(8)
    }
    found = json_schema_declared(registered({"$ref": "#/d/d0", "d": {**tens, "d8": TEXT}}))
    # 10 + 100 + 1,000 fields; with the next level there would be over 10,000.
    deepest = parse_columns("x STRUCT<" + ", ".join(f"f{k} STRING" for k in range(10)) + ">")[0]
    (first, *_) = found.columns
    assert isinstance(first.type, Struct)
    assert first.type.fields[9].type == deepest.type
    assert len(found.as_text) == 1_000
    whys = {each.why for each in found.as_text}
    assert whys == {"with what is below, the schema has more than 10000 fields"}
    assert found.unread == ()


def test_a_schema_of_too_many_columns_is_refused() -> None:
    flat = {"properties": {f"f{n}": TEXT for n in range(10_001)}}
    with pytest.raises(ValueError, match=r"^\$\.f10000: expected at most 10000 fields, found more"):
        json_schema_declared(registered(flat))


@pytest.mark.parametrize("key", ["anyOf", "allOf", "items"])
def test_a_schema_that_leads_twice_to_each_next_part_is_refused_at_once(key: str) -> None:
    """It declares one field, and would be read 2^60 times."""
    steps = {f"d{n}": {key: [{"$ref": f"#/d/d{n + 1}"}] * 2} for n in range(60)}
    whole = {"properties": {"x": {"$ref": "#/d/d0"}}, "d": {**steps, "d60": TEXT}}
    with pytest.raises(ValueError, match=r"^\$\.x.*: expected at most 30000 parts, found more"):
        json_schema_declared(registered(whole))


def test_fields_of_an_array_that_only_a_condition_names_beside_an_object_are_told() -> None:
    names = {"properties": {"a": TEXT}}
    whole = {**names, "if": {"type": "array", "items": {"properties": {"b": TEXT}}}, "then": {}}
    found = json_schema_declared(registered({"properties": {"x": whole}}))
    assert found.columns == parse_columns("x STRUCT<a: STRING>")
    assert [*map(str, found.unread)] == ["$.x[*].b: $.x has values of another type"]


def test_a_part_that_is_met_a_few_times_is_read_each_time() -> None:
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/d/d{n + 1}"}] * 2} for n in range(8)}
    assert of_x({"$ref": "#/d/d0"}, d={**steps, "d8": WHOLE}) == "BIGINT"


KEYS = st.sampled_from(
    [
        *("type", "properties", "items", "enum", "const", "oneOf", "anyOf", "allOf", "$ref"),
        *("additionalProperties", "patternProperties", "format", "$id", "$defs", "a", "$schema"),
    ]
)
WORDS = st.sampled_from(["object", "array", "string", "null", "integer", "#", "#/a", "date", ""])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 1) | st.floats(allow_nan=False) | WORDS,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(KEYS, part, max_size=4),
    max_leaves=15,
)


NAMES = st.sampled_from(["a", "b", "A", "a b", "_key", "x.y", "c"])
COMPOSED = ("oneOf", "anyOf", "allOf")
SCHEMAS = st.recursive(
    st.sampled_from([TEXT, WHOLE, {}, {"type": "object"}, {"format": "date", **TEXT}]),
    lambda part: (
        st.dictionaries(NAMES, part, min_size=1, max_size=3).map(lambda x: {"properties": x})
        | st.tuples(st.sampled_from(COMPOSED), st.lists(part, min_size=1, max_size=3)).map(
            lambda pair: dict([pair])
        )
        | part.map(lambda x: {"type": "array", "items": x})
        | st.tuples(part, part, part).map(lambda x: {**x[0], "if": x[1], "then": x[2]})
    ),
    max_leaves=12,
)


def declared_names(schema: Any, above: Place = ()) -> Iterator[Place]:
    """The places of all fields of a schema, by a plain walk."""
    for name, part in schema.get("properties", {}).items():
        yield (*above, name)
        yield from declared_names(part, (*above, name))
    composed = [part for key in COMPOSED for part in schema.get(key, [])]
    for part in (*composed, *(schema[key] for key in ("if", "then") if key in schema)):
        yield from declared_names(part, above)
    if "items" in schema:
        yield from declared_names(schema["items"], (*above, None))


@pytest.mark.patient
@settings(max_examples=500, deadline=None, database=None)
@given(st.dictionaries(NAMES, SCHEMAS, min_size=1, max_size=3))
def test_each_declared_name_has_a_column_or_is_told(properties: Any) -> None:
    schema = {"type": "object", "properties": {"id": WHOLE, **properties}}
    found = json_schema_declared(registered(schema))
    told = {note.place for note in found.unread}
    for place in declared_names(schema):
        above = {place[:depth] for depth in range(1, len(place) + 1)}
        assert is_held(found.columns, place) or above & told, place


@pytest.mark.patient
@settings(max_examples=500, deadline=None, database=None)
@given(ANYTHING)
def test_any_json_is_read_or_refused(schema: Any) -> None:
    with suppress(ValueError):
        json_schema_declared(registered(schema))


@pytest.mark.parametrize(
    ("schema", "column"),
    [
        (
            {"type": "array", "items": {"type": "number"}, "contains": {"type": "integer"}},
            "ARRAY<DOUBLE>",
        ),
        ({"type": "array", "contains": {"type": "integer"}}, "ARRAY<STRING>"),
        (
            {
                "oneOf": [{"properties": {"v": {"type": "integer"}}}],
                "anyOf": [{"properties": {"v": {"type": "string"}}}],
            },
            "STRUCT<v: STRING>",
        ),
    ],
    ids=str,
)
def test_what_holds_for_some_values_narrows_nothing(schema: Any, column: str) -> None:
    found = json_schema_declared(registered({"properties": {"x": schema}})).columns
    assert found == parse_columns(f"x {column}")
