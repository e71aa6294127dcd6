"""Which schema becomes the one that all records are read as."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sluice.registry.reader_choice import choose_reader
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import AvroFormat, JsonFormat, ProtobufFormat
from sluice.spec_file.pipeline_spec import Evolution

from tests.worlds.protobuf_schemas import of_registry

FORM = AvroFormat(type="avro", registry="r")


CITY = {"type": ["null", "string"], "default": None}


def schema(key: int, name: str = "Order", **fields: Any) -> RegisteredSchema:
    """Of fields by their types; of a dict, such as CITY, all that it says of one."""
    listed = [
        {"name": each, **(kind if isinstance(kind, dict) and "default" in kind else {"type": kind})}
        for each, kind in fields.items()
    ]
    text = json.dumps({"type": "record", "name": name, "fields": listed})
    return RegisteredSchema(str(key), "AVRO", text)


OLD = schema(5, id="int")


@pytest.mark.parametrize(
    ("found", "evolution", "key", "why"),
    [
        (OLD, "widen", "5", ""),
        (schema(4, id="int"), "widen", "5", ""),
        (schema(4, id="int", city=CITY), "widen", "4", ""),
        (schema(4, id="int", city=CITY), "strict", "5", "it adds city STRING"),
        (schema(6, id="int"), "strict", "6", ""),
        (schema(6, id="int", city=CITY), "strict", "5", "it adds city STRING"),
        (schema(6, id="int", city=CITY), "add_columns", "6", ""),
        (
            schema(6, id="int", city="string"),
            "add_columns",
            "5",
            "not all of schema 5 could be read as it: city: the writer's schema has no such field,"
            " and it has no default",
        ),
        (schema(6, id="long"), "add_columns", "5", "it changes id from INT to BIGINT"),
        (schema(6, id="long"), "widen", "6", ""),
        (schema(6, id="string"), "widen", "5", "it changes id from INT to STRING"),
        (schema(6, city="string"), "widen", "5", "it lacks id INT"),
        (schema(6, name="Return", id="int", city="string"), "widen", "5", "another record, Return"),
    ],
)
def test_the_reader_moves_only_as_evolution_allows(
    found: RegisteredSchema, evolution: Evolution, key: str, why: str
) -> None:
    choice = choose_reader(FORM, OLD, found, evolution)
    assert (choice.reader.key, bool(choice.kept_for)) == (key, bool(why))
    assert why in choice.kept_for


def test_a_schema_that_no_table_can_hold_is_not_taken() -> None:
    again = {"type": "record", "name": "Order", "fields": [{"name": "next", "type": "Order"}]}
    found = RegisteredSchema("6", "AVRO", json.dumps(again))
    choice = choose_reader(FORM, OLD, found, "widen")
    assert choice.reader == OLD
    assert "Order" in choice.kept_for


def symbols(key: int, *names: str, **more: Any) -> RegisteredSchema:
    return schema(key, kind={"type": "enum", "name": "Kind", "symbols": [*names], **more})


def either(key: int, *kinds: str) -> RegisteredSchema:
    return schema(key, id=[*kinds])


@pytest.mark.parametrize(
    ("old", "found", "key", "why"),
    [
        (symbols(5, "A"), symbols(6, "A", "B"), "6", ""),
        (symbols(5, "A"), symbols(4, "A", "B"), "4", ""),
        (symbols(5, "A", "B"), symbols(4, "A"), "5", ""),
        (
            symbols(5, "A", "B"),
            symbols(6, "A"),
            "5",
            "kind: expected enum Kind, found the symbol B",
        ),
        (either(5, "null", "int"), either(6, "int"), "5", "id: expected [int], found null"),
        (either(5, "int"), either(6, "null", "int"), "6", ""),
        (either(5, "int"), either(4, "null", "int"), "4", ""),
        (either(5, "null", "int"), either(4, "int"), "5", ""),
    ],
)
def test_what_the_reader_reads_whole_is_read_whole(
    old: RegisteredSchema, found: RegisteredSchema, key: str, why: str
) -> None:
    choice = choose_reader(FORM, old, found, "widen")
    assert (choice.reader.key, bool(choice.kept_for)) == (key, bool(why))
    assert why in choice.kept_for


def test_a_guid_says_nothing_of_which_schema_is_newer() -> None:
    again = RegisteredSchema("89791762-2336-4186-9674-299b90a802e2", "AVRO", OLD.text)
    assert choose_reader(FORM, OLD, again, "widen").reader == OLD


def test_a_schema_of_another_kind_is_none_for_the_format() -> None:
    found = RegisteredSchema("6", "JSON", '{"type": "object"}')
    choice = choose_reader(FORM, OLD, found, "add_columns")
    assert (choice.reader, choice.kept_for) == (
        OLD,
        "expected a schema of kind AVRO, found JSON",
    )


@pytest.mark.parametrize("evolution", ["strict", "add_columns", "widen"])
def test_a_name_in_another_case_is_another_field(evolution: Evolution) -> None:
    """Records with the former name would have the default, or null, in its column."""
    choice = choose_reader(FORM, schema(5, CITY=CITY), schema(6, city=CITY), evolution)
    assert (choice.reader.key, choice.kept_for) == ("5", "it lacks CITY STRING")
    old, found = (
        RegisteredSchema(
            key, "JSON", json.dumps({"properties": {"at": {"properties": {name: {}}}}})
        )
        for key, name in (("5", "ID"), ("6", "id"))
    )
    choice = choose_reader(JsonFormat(type="json", registry="r"), old, found, evolution)
    assert (choice.reader.key, choice.kept_for) == ("5", "it lacks at.ID STRING")


@pytest.mark.parametrize("names", [("ID", "id", "new"), ("id", "ID", "new"), ("new", "id", "ID")])
def test_a_new_name_in_another_case_takes_no_column_from_the_field_that_has_it(
    names: tuple[str, ...],
) -> None:
    old, found = (
        RegisteredSchema(key, "JSON", json.dumps({"properties": {name: {} for name in each}}))
        for key, each in (("5", ("id",)), ("6", names))
    )
    form = JsonFormat(type="json", registry="r")
    choice = choose_reader(form, old, found, "add_columns")
    assert (choice.reader.key, choice.kept_for) == ("6", "")
    declared = form.read_as(choice.reader).declared
    assert {each.name for each in declared.columns} == {"id", "new"}
    assert [str(each) for each in declared.unread] == [
        "$.ID: declared twice (Delta ignores case in column names)"
    ]


def kind(*names: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "Kind", "symbols": [*names], **more}


def tree(*fields: dict[str, Any]) -> dict[str, Any]:
    held = {"name": "held", "type": {"type": "array", "items": "Tree"}}
    return {"type": "record", "name": "Tree", "fields": [held, *fields]}


def decimal(precision: int, scale: int = 2) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def inner(name: str, **more: Any) -> dict[str, Any]:
    fields = [{"name": "id", "type": "long", **more}]
    return {"type": "record", "name": name, "fields": fields}


def one(of: Any, **more: Any) -> RegisteredSchema:
    """The schema of one field; the fifth unless it says otherwise."""
    key = more.pop("key", "5")
    fields = [{"name": "x", "type": of, **more}]
    return RegisteredSchema(
        key, "AVRO", json.dumps({"type": "record", "name": "Order", "fields": fields})
    )


@pytest.mark.parametrize(
    ("old", "found", "why"),
    [
        (one("int", default=0), one("int", key="6"), "x: its default is gone"),
        (one("int", default=0), one("int", default=1, key="6"), ""),
        (one("int"), one("int", default=1, aliases=["y"], key="6"), ""),
        (one("int", aliases=["y"]), one("int", key="6"), "x: the alias y is gone"),
        (one(kind("A", default="A")), one(kind("A"), key="6"), "x: the default of enum Kind is"),
        (
            one({"type": "array", "items": inner("X", default=1)}),
            one({"type": "array", "items": ["null", inner("X")]}, key="6"),
            "x[].id: its default is gone",
        ),
        (
            one({**inner("X"), "aliases": ["Old"]}),
            one(inner("X"), key="6"),
            "x: the alias Old is gone",
        ),
        (
            one([inner("X"), inner("Y")]),
            one([inner("Y"), inner("X")], key="6"),
            "x: member0 would be another type: expected record Y, found record X",
        ),
        (one([inner("X"), "int"]), one(["null", inner("X"), "int"], key="6"), ""),
        (
            one([inner("X"), inner("Y")]),
            one([inner("Z"), inner("X"), inner("Y")], key="6"),
            "x: member0 would be another type: expected record Z, found record X",
        ),
        (one([inner("X"), "int"]), one([inner("X"), "int", "string"], key="6"), ""),
        (one(tree()), one(tree(), key="6"), ""),
        (one(tree()), one(tree({"name": "n", "type": "int", "default": 1}), key="6"), ""),
        (
            one(tree({"name": "n", "type": "int", "default": 1})),
            one(tree({"name": "n", "type": "int"}), key="6"),
            "x.n: its default is gone",
        ),
        (
            one(tree({"name": "n", "type": "int"})),
            one(tree({"name": "n", "type": "long"}), key="6"),
            "it changes x.n from INT to BIGINT",
        ),
        (one("null"), one(["null"], key="6"), ""),
        (one(decimal(64)), one(decimal(38), key="6"), ""),
        (one(decimal(38)), one(decimal(64), key="6"), ""),
        (
            one(decimal(64)),
            one(decimal(64, 3), key="6"),
            "it changes x from DECIMAL(38,2) to DECIMAL(38,3)",
        ),
    ],
)
def test_what_older_schemas_wrote_is_read_as_before(
    old: RegisteredSchema, found: RegisteredSchema, why: str
) -> None:
    choice = choose_reader(FORM, old, found, "add_columns")
    assert (choice.reader.key, bool(choice.kept_for)) == ("5" if why else "6", bool(why))
    assert why in choice.kept_for


@pytest.mark.parametrize(
    ("old", "found", "why"),
    [
        ("message M { int32 a = 1; }", "message M { int32 a = 1; int32 b = 2; }", ""),
        ("message M { int32 a = 1; }", "message M { int64 a = 1; }", ""),
        ("message M { int32 a = 1; }", "message M { int32 A = 1; }", ""),
        (
            "message M { string a = 1; string b = 2; }",
            "message M { string b = 1; string a = 2; }",
            "a: expected the number 2, found 1",
        ),
        (
            "message M { string a = 1; }",
            "message M { string a = 2; }",
            "a: expected the number 2, found 1",
        ),
        (
            "message M { int32 a = 1; }",
            "message N { int32 a = 1; } message M { int32 a = 1; }",
            "expected the message p.N, found p.M",
        ),
        (
            "message M { sint32 a = 1; }",
            "message M { int64 a = 1; }",
            "a: expected int64, found sint32",
        ),
        (
            "message M { float a = 1; }",
            "message M { double a = 1; }",
            "a: expected double, found float",
        ),
        (
            "message M { optional int32 a = 1; }",
            "message M { int32 a = 1; }",
            "a: expected a field whose 0 is as unset, found one that tells them apart",
        ),
        (
            "message M { int32 a = 1; }",
            "message M { optional int32 a = 1; }",
            "a: expected one that tells them apart, found a field whose 0 is as unset",
        ),
        (
            "message M { repeated I i = 1; } message I { E e = 1; } enum E { A = 0; B = 1; }",
            "message M { repeated I i = 1; } message I { E e = 1; } enum E { A = 0; }",
            "i.e: 1: expected no such number, found B",
        ),
        (
            "message M { E e = 1; } enum E { A = 0; B = 1; }",
            "message M { E e = 1; } enum E { A = 0; C = 1; B = 2; }",
            "e: 1: expected C, found B",
        ),
    ],
)
def test_a_message_that_would_read_others_is_no_newer_one(old: str, found: str, why: str) -> None:
    before, now = (
        of_registry(key, f'syntax = "proto3"; package p; {source}')
        for key, source in (("5", old), ("6", found))
    )
    choice = choose_reader(ProtobufFormat(type="protobuf", registry="r"), before, now, "widen")
    assert (choice.reader, bool(choice.kept_for)) == (before if why else now, bool(why))
    assert why in choice.kept_for


def test_a_title_names_the_record_where_a_topic_has_several() -> None:
    form = JsonFormat(type="json", registry="r", subject_strategy="record", record="Order")
    old, more, other = (
        RegisteredSchema(
            key, "JSON", json.dumps({"title": title, "properties": dict.fromkeys(x, True)})
        )
        for key, title, x in (("5", "Order", "a"), ("6", "Order", "ab"), ("7", "Refund", "abc"))
    )
    assert choose_reader(form, old, more, "add_columns").reader == more
    choice = choose_reader(form, old, other, "add_columns")
    assert choice.kept_for == "expected record Order, found record Refund"
    by_topic = JsonFormat(type="json", registry="r")
    assert choose_reader(by_topic, old, other, "add_columns").reader == other


OF_OBJECTS, OF_ANYTHING = {"properties": {"value": {"type": "string"}}}, {"type": "array"}


@pytest.mark.parametrize(
    ("old", "found"), [(OF_OBJECTS, OF_ANYTHING), (OF_ANYTHING, OF_OBJECTS)], ids=str
)
def test_records_with_fields_and_records_that_are_kept_whole_are_not_read_as_each_other(
    old: dict[str, Any], found: dict[str, Any]
) -> None:
    """Their columns are alike, and would hold other values."""
    form = JsonFormat(type="json", registry="r")
    before, now = (
        RegisteredSchema(key, "JSON", json.dumps(each)) for key, each in (("5", old), ("6", found))
    )
    assert form.read_as(before).columns == form.read_as(now).columns
    choice = choose_reader(form, before, now, "widen")
    assert choice.reader == before
    assert "the other of values that are kept as a whole" in choice.kept_for


def named(name: str, carrier: str = "long") -> dict[str, str]:
    return {"type": carrier, "connect.name": f"io.debezium.time.{name}"}


def event(key: int, **row: Any) -> RegisteredSchema:
    after = json.loads(schema(key, "Value", **row).text)
    parts: dict[str, Any] = {"before": ["null", after], "after": ["null", "Value"], "op": "string"}
    parts["source"] = "string"
    return schema(key, "Envelope", **parts)


ROW: dict[str, Any] = {"id": "int", "at": named("Timestamp")}
MICROS = {**ROW, "at": named("MicroTimestamp")}
UNLIKE = "not all of schema 5 could be read as it: "


@pytest.mark.parametrize("envelope", ["connect", "debezium"])
@pytest.mark.parametrize(
    ("row", "evolution", "key", "why"),
    [
        ({**ROW, "city": CITY}, "add_columns", "6", ""),
        ({**ROW, "city": CITY}, "strict", "5", "it adds city STRING"),
        ({**ROW, "id": "long"}, "widen", "6", ""),
        ({**ROW, "id": "long"}, "add_columns", "5", "it changes id from INT to BIGINT"),
        ({**ROW, "at": named("Date", "int")}, "widen", "5", "it changes at from TIMESTAMP to DATE"),
        # The column stays, but a number of one schema is not that of the other.
        (MICROS, "widen", "5", UNLIKE),
    ],
)
def test_rows_that_connect_wrote_evolve_as_their_names_mean(
    envelope: Any, row: Any, evolution: Evolution, key: str, why: str
) -> None:
    of = schema if envelope == "connect" else event
    form = AvroFormat(type="avro", registry="r", envelope=envelope)
    found = choose_reader(form, of(5, **ROW), of(6, **row), evolution)
    assert found.reader.key == key
    assert why in found.kept_for
    assert bool(found.kept_for) == bool(why)
