"""An Avro schema gives a table its columns, or is refused by the place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sluice.columns.columns import parse_columns
from sluice.schemas.avro.columns import avro_declared
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import Reference, RegisteredSchema


def registered(found: Any, *references: Any) -> RegisteredSchema:
    named = tuple(Reference(f"r{n}", json.dumps(each)) for n, each in enumerate(references))
    return RegisteredSchema("1", "AVRO", json.dumps(found), named)


def of_field(kind: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": "x", "type": kind}]}


def fixed(size: int, **more: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": "F", "size": size, **more}


DURATION = "months: BIGINT, days: BIGINT, milliseconds: BIGINT"
COLUMNS: list[tuple[Any, str]] = [
    ("int", "INT"),
    ({"type": "long"}, "BIGINT"),
    ({"type": {"type": "string"}}, "STRING"),
    (["null", "boolean"], "BOOLEAN"),
    (["float", "double"], "DOUBLE"),
    (["int", "null", "long"], "BIGINT"),
    (["int", "string"], "STRUCT<member0: INT, member1: STRING>"),
    (["string", "null", "int", "long"], "STRUCT<member0: STRING, member1: INT, member2: BIGINT>"),
    (fixed(4), "BINARY"),
    (fixed(4, logicalType="decimal", precision=9, scale=2), "DECIMAL(9,2)"),
    (fixed(4, logicalType="decimal", precision=10), "BINARY"),
    (fixed(12, logicalType="duration"), f"STRUCT<{DURATION}>"),
    (fixed(13, logicalType="duration"), "BINARY"),
    (fixed(16, logicalType="uuid"), "STRING"),
    ({"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 38}, "DECIMAL(38,38)"),
    ({"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 3}, "BINARY"),
    ({"type": "int", "logicalType": "time-millis"}, "STRING"),
    ({"type": "int", "logicalType": "timestamp-millis"}, "INT"),
    ({"type": "long", "logicalType": "local-timestamp-nanos"}, "TIMESTAMP"),
    ({"type": "array", "items": {"type": "map", "values": "bytes"}}, "ARRAY<MAP<STRING, BINARY>>"),
    ({"type": "enum", "name": "E", "symbols": ["A"]}, "STRING"),
]


@pytest.mark.parametrize(("kind", "column"), COLUMNS, ids=lambda each: str(each)[:40])
def test_a_type_has_its_column(kind: Any, column: str) -> None:
    assert avro_declared(registered(of_field(kind))).columns == parse_columns(f"x {column}")


def test_a_schema_that_is_no_record_is_one_column() -> None:
    assert not kind_of("AVRO").has_fields(registered("string"))
    assert avro_declared(registered("string")).columns == parse_columns("value STRING")
    assert avro_declared(registered(["null", of_field("int")])).columns == parse_columns(
        "value STRUCT<x: INT>"
    )


def test_named_types_are_found_in_name_spaces_and_in_other_texts() -> None:
    money = {"type": "fixed", "name": "Money", "namespace": "m", "size": 2}
    inner = {"type": "record", "name": "Line", "fields": [{"name": "m", "type": "m.Money"}]}
    outer = {
        "type": "record",
        "name": "o.Order",
        "fields": [{"name": "a", "type": inner}, {"name": "b", "type": "Line"}],
    }
    found = avro_declared(registered(outer, money)).columns
    assert found == parse_columns("a STRUCT<m: BINARY>, b STRUCT<m: BINARY>")


TREE = {
    "type": "record",
    "name": "a.Tree",
    "fields": [{"name": "children", "type": {"type": "array", "items": "Tree"}}],
}
EMPTY = {"type": "record", "name": "E", "fields": []}
TOO_FINE = {"type": "bytes", "logicalType": "decimal", "precision": 64, "scale": 39}
AS_TEXT: list[tuple[Any, str, str]] = [
    (TREE, "children ARRAY<STRING>", "$.children[*]: the schema holds itself"),
    (
        of_field(TREE),
        "x STRUCT<children: ARRAY<STRING>>",
        "$.x.children[*]: the schema holds itself",
    ),
    (
        of_field(["null", "R", "int"]),
        "x STRUCT<member0: STRING, member1: INT>",
        "$.x.member0: the schema holds itself",
    ),
    (of_field(["null", "R"]), "x STRING", "$.x: the schema holds itself"),
    (of_field("null"), "x STRING", "$.x: a type with only null"),
    (of_field(["null"]), "x STRING", "$.x: a type with only null"),
    (
        of_field({"type": "map", "values": "null"}),
        "x MAP<STRING, STRING>",
        "$.x[*]: a type with only null",
    ),
    (of_field(["null", EMPTY]), "x STRING", "$.x: a record without fields"),
    (of_field(TOO_FINE), "x STRING", "$.x: more than 38 digits after the point"),
]


@pytest.mark.parametrize(("found", "columns", "note"), AS_TEXT, ids=lambda each: str(each)[:40])
def test_what_no_column_can_be_is_its_json_text(found: Any, columns: str, note: str) -> None:
    declared = avro_declared(registered(found))
    assert declared.columns == parse_columns(columns)
    assert [*map(str, declared.as_text)] == [note]
    assert declared.unread == ()


def test_a_decimal_of_more_digits_than_a_column_has_is_of_as_many_as_it_has() -> None:
    wide = {"type": "bytes", "logicalType": "decimal", "precision": 64, "scale": 2}
    assert avro_declared(registered(of_field(wide))).columns == parse_columns("x DECIMAL(38,2)")


def test_names_that_no_column_can_have_are_told() -> None:
    inner = [{"name": each, "type": "int"} for each in ("a", "A", "_topic")]
    fields = [
        *({"name": each, "type": "int"} for each in ("id", "ID", "__op")),
        {"name": "_topic", "type": ["null", "R"]},
        {"name": "n", "type": {"type": "record", "name": "N", "fields": inner}},
    ]
    declared = avro_declared(registered({"type": "record", "name": "R", "fields": fields}))
    assert declared.columns == parse_columns("id INT, __op INT, n STRUCT<a: INT, _topic: INT>")
    assert [*map(str, declared.unread)] == [
        "$.ID: declared twice (Delta ignores case in column names)",
        "$._topic: Sluice has its own column of this name",
        "$.n.A: declared twice (Delta ignores case in column names)",
    ]
    assert declared.as_text == ()


def test_records_that_hold_each_other_in_too_many_orders_are_refused() -> None:
    names = [f"R{n}" for n in range(9)]
    fields = [{"name": f"f{n}", "type": ["null", each]} for n, each in enumerate(names)]
    found: Any = {"type": "record", "name": "R8", "fields": fields}
    for name in reversed(names[:-1]):
        inner = [*fields]
        inner[names.index(name) + 1] = {"name": "next", "type": ["null", found]}
        found = {"type": "record", "name": name, "fields": inner}
    with pytest.raises(ValueError, match="expected at most 10000 fields, found more"):
        avro_declared(registered(found))


REFUSED: list[tuple[Any, str]] = [
    (
        {"type": "record", "name": "R", "fields": [{"name": "x", "type": "R"}]},
        "R in R: expected a record that can end, found one in itself",
    ),
    (of_field("Unknown"), "x: expected a type that is defined before, found 'Unknown'"),
    (of_field(7), "x: expected a type, found 7"),
    (of_field({"type": "enum", "name": "E", "symbols": ["A", "A"]}), "x: E: a symbol is declared"),
    (of_field({"type": "fixed", "name": "E", "size": -1}), "x: E: size: expected a number"),
    (of_field(["int", "int"]), "x: a union must not hold the same type twice"),
    (of_field(["int", ["null"]]), "x: a union must not hold another one"),
    (of_field({"type": "array", "items": "x y"}), "x: items: expected a type"),
    (
        {"type": "record", "name": "R", "fields": [{"name": "a.b", "type": "int"}]},
        "letters, digits",
    ),
    ({"type": "record", "name": "1R", "fields": []}, "letters, digits and _"),
    ({"type": "record", "name": "R"}, "R: expected fields, found null"),
]


@pytest.mark.parametrize(("found", "message"), REFUSED, ids=lambda each: str(each)[:40])
def test_what_no_table_can_hold_is_refused_by_the_place(found: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        avro_declared(registered(found))


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "nonsense"])
def test_a_text_that_is_no_schema_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="schema: expected JSON"):
        avro_declared(RegisteredSchema("1", "AVRO", text))


def test_types_that_are_nested_too_deep_are_refused() -> None:
    kind: Any = "int"
    for _ in range(60):
        kind = {"type": "array", "items": kind}
    with pytest.raises(ValueError, match="more than 50 levels"):
        avro_declared(registered(of_field(kind)))
