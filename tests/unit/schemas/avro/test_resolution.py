"""Whether what was written with one schema can be read as another, and if not, why."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sluice.schemas.avro.parsing import parse_avro
from sluice.schemas.avro.resolution import loss, refusal
from sluice.schemas.registered import RegisteredSchema


def parsed(found: Any) -> Any:
    return parse_avro(RegisteredSchema("1", "AVRO", json.dumps(found)))


def of_field(kind: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": "x", "type": kind, **more}]}


def why(writer: Any, reader: Any) -> str:
    return refusal(parsed(writer), parsed(reader))


MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}


def decimal(precision: int, scale: int) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def named(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, **more}


READABLE = [
    ("int", "long"),
    ("int", "double"),
    ("long", "float"),
    ("float", "double"),
    ("string", "bytes"),
    ("bytes", "string"),
    ("int", ["null", "string", "long"]),
    (["null", "int"], "long"),
    (MILLIS, "long"),
    ("long", MICROS),
    (decimal(5, 2), decimal(9, 2)),
    ({"type": "array", "items": "int"}, {"type": "array", "items": "float"}),
    (named("enum", "E", symbols=["A", "B"]), named("enum", "E", symbols=["A"])),
    (named("enum", "Old", symbols=["A"]), named("enum", "E", symbols=["A"], aliases=["Old"])),
    (named("fixed", "a.F", size=2), named("fixed", "b.F", size=2)),
    (named("record", "a.R", fields=[]), named("record", "b.R", fields=[])),
    (named("record", "a.Old", fields=[]), named("record", "a.New", fields=[], aliases=["Old"])),
    (["null", named("record", "a.B", fields=[])], ["null", named("record", "a.A", fields=[])]),
]


@pytest.mark.parametrize(("writer", "reader"), READABLE, ids=str)
def test_a_type_is_read_as_another(writer: Any, reader: Any) -> None:
    assert why(of_field(writer), of_field(reader)) == ""


UNREADABLE = [
    ("long", "int", "x: expected int, found long"),
    ("double", "float", "x: expected float, found double"),
    ("int", "string", "x: expected string, found int"),
    ("null", "int", "x: expected int, found null"),
    (["null", "string"], "int", "x: expected int, found null"),
    ("boolean", ["null", "int"], "x: expected [null, int], found boolean"),
    (
        MILLIS,
        MICROS,
        "x: expected long (timestamp-micros), found long (timestamp-millis)",
    ),
    (
        decimal(5, 2),
        decimal(5, 3),
        "x: expected bytes (decimal(5,3)), found bytes (decimal(5,2))",
    ),
    (
        {"type": "array", "items": "string"},
        {"type": "array", "items": "int"},
        "x[]: expected int, found string",
    ),
    (
        named("fixed", "F", size=2),
        named("fixed", "F", size=3),
        "x: expected fixed F of 3 bytes, found fixed F of 2 bytes",
    ),
    (
        named("enum", "E", symbols=["A"]),
        named("enum", "D", symbols=["A"]),
        "x: expected enum D, found enum E",
    ),
    (
        named("fixed", "F", size=2),
        named("fixed", "G", size=2),
        "x: expected fixed G of 2 bytes, found fixed F of 2 bytes",
    ),
    (
        named("record", "a.Cancelled", fields=[]),
        named("record", "a.Created", fields=[]),
        "x: expected record a.Created, found record a.Cancelled",
    ),
    (
        named("record", "b.Old", fields=[]),
        named("record", "a.New", fields=[], aliases=["Old"]),
        "x: expected record a.New, found record b.Old",
    ),
    (
        named("record", "a.B", fields=[]),
        ["null", named("record", "a.A", fields=[])],
        "x: expected [null, a.A], found record a.B",
    ),
    (
        {"type": "record", "name": "In", "fields": []},
        {"type": "record", "name": "In", "fields": [{"name": "y", "type": "int"}]},
        "x.y: the writer's schema has no such field, and it has no default",
    ),
]


@pytest.mark.parametrize(("writer", "reader", "reason"), UNREADABLE, ids=str)
def test_a_type_that_cannot_be_read_is_told_by_its_place(
    writer: Any, reader: Any, reason: str
) -> None:
    assert why(of_field(writer), of_field(reader)) == reason


def test_a_field_is_found_by_an_alias_and_a_default_stands_for_one_that_is_missing() -> None:
    without = {"type": "record", "name": "R", "fields": []}
    old = {"type": "record", "name": "R", "fields": [{"name": "was", "type": "int"}]}
    assert why(old, of_field("long", aliases=["was"])) == ""
    assert why(without, of_field(["null", "int"], default=None)) == ""
    assert why(without, of_field("int", default="a")).startswith("x: its default")
    assert why(without, of_field("int", default=2**31)).startswith("x: its default")


def test_another_record_is_refused_by_its_name() -> None:
    named_so = [{"type": "record", "name": f"shop.{each}", "fields": []} for each in ("A", "B")]
    assert why(*named_so) == "expected record shop.B, found record shop.A"
    assert why(named_so, named_so[1]) == ""
    assert why(named_so[1], {**named_so[0], "aliases": ["B"]}) == ""


def test_recursive_schemas_are_compared() -> None:
    def tree(kind: str) -> dict[str, Any]:
        fields = [{"name": "v", "type": kind}, {"name": "next", "type": ["null", "Tree"]}]
        return {"type": "record", "name": "Tree", "fields": fields}

    assert why(tree("int"), tree("long")) == ""
    assert why(tree("string"), tree("int")) == "v: expected int, found string"


def test_what_fits_only_if_its_record_does_is_compared_again() -> None:
    def both(kind: str) -> dict[str, Any]:
        again = {"type": "array", "items": "A"}
        fields_of_b = [{"name": "a", "type": again}]
        b = {"type": "array", "items": named("record", "B", fields=fields_of_b)}
        a = named("record", "A", fields=[{"name": "b", "type": b}, {"name": "v", "type": kind}])
        fields = [{"name": "x", "type": ["null", a]}, {"name": "y", "type": "B"}]
        return named("record", "T", fields=fields)

    assert why(both("string"), both("int")) == "y.a[].v: expected int, found string"


def test_a_default_that_would_hold_itself_is_none() -> None:
    again = {"name": "next", "type": ["R", "null"], "default": {}}
    reader = named("record", "R", fields=[again])
    told = "next: its default, which the records need, is not of its type"
    assert why(named("record", "R", fields=[]), reader) == told
    ends = named("record", "R", fields=[{**again, "default": {"next": None}, "type": ["R"]}])
    assert why(named("record", "R", fields=[]), ends) == told
    both = {**again, "type": ["null", "R"], "default": None}
    assert why(named("record", "R", fields=[]), named("record", "R", fields=[both])) == ""


WHOLE = [
    ("int", "long"),
    ("int", ["null", "long"]),
    (["null", "int"], ["string", "null", "int"]),
    (named("enum", "E", symbols=["A"]), named("enum", "E", symbols=["B", "A"])),
    ({"type": "map", "values": "int"}, {"type": "map", "values": ["null", "int"]}),
]
LOST = [
    (["null", "int"], "int", "x: expected int, found null"),
    (["null", "int", "string"], ["null", "int"], "x: expected [null, int], found string"),
    (
        {"type": "array", "items": named("enum", "E", symbols=["A", "B"])},
        {"type": "array", "items": named("enum", "E", symbols=["A", "C"], default="A")},
        "x[]: expected enum E, found the symbol B",
    ),
    (
        named("record", "In", fields=[]),
        named("record", "In", fields=[{"name": "y", "type": "int"}]),
        "x.y: the writer's schema has no such field, and it has no default",
    ),
]


@pytest.mark.parametrize(("old", "new"), WHOLE, ids=str)
def test_a_type_is_read_whole(old: Any, new: Any) -> None:
    assert loss(parsed(of_field(old)), parsed(of_field(new))) == ""


@pytest.mark.parametrize(("old", "new", "reason"), LOST, ids=str)
def test_what_another_schema_would_lose_is_told(old: Any, new: Any, reason: str) -> None:
    assert loss(parsed(of_field(old)), parsed(of_field(new))) == reason
