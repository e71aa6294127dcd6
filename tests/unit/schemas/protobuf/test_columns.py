"""A Protobuf message's columns, and what no table can hold."""

from __future__ import annotations

import base64
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.columns.columns import parse_columns
from sluice.schemas.protobuf.columns import protobuf_declared
from sluice.schemas.protobuf.evolution import clash, message_loss
from sluice.schemas.protobuf.schema import message_of, messages
from sluice.schemas.registered import Reference, RegisteredSchema
from sluice.spec_file.formats import ProtobufFormat

from tests.worlds.protobuf_schemas import COLUMNS, ORDER, descriptor_set, of_file, of_registry

HEAD = 'syntax = "proto3"; package p; '


def test_each_type_has_its_column() -> None:
    assert protobuf_declared(of_file(ORDER), "shop.Order").columns == parse_columns(COLUMNS)


def test_proto2_has_the_same_columns() -> None:
    source = """syntax = "proto2"; package p;
    message M { required int32 r = 1; optional Kind k = 2 [default = B]; repeated group G = 3 {
      optional bool b = 1; } extensions 100 to 200; }
    enum Kind { A = 1; B = 2; }"""
    found = protobuf_declared(of_file(source), "p.M").columns
    assert found == parse_columns("r INT, k STRING, g ARRAY<STRUCT<b: BOOLEAN>>")


def test_editions_are_read_as_well() -> None:
    source = 'edition = "2023"; package p; message M { int32 i = 1; }'
    assert protobuf_declared(of_file(source), "p.M").columns == parse_columns("i INT")


@pytest.mark.parametrize(
    ("source", "name", "refused"),
    [
        ("message M { int32 _offset = 1; }", "p.M", "p.M: expected a message with fields"),
        ("message M { }", "p.M", "p.M: expected a message with fields"),
        (
            "message M { int32 i = 1; }",
            "p.X",
            r"expected a message of main.desc \(p.M\), found p.X",
        ),
    ],
)
def test_what_no_table_can_hold_is_refused_by_its_name(
    source: str, name: str, refused: str
) -> None:
    with pytest.raises(ValueError, match=refused):
        protobuf_declared(of_file(HEAD + source), name)


@pytest.mark.parametrize(
    ("source", "name", "columns", "places"),
    [
        ("message N { int32 i = 1; N n = 2; }", "p.N", "i INT, n STRING", ["$.n"]),
        ("message N { N n = 1; }", "p.N", "n STRING", ["$.n"]),
        (
            "message A { B b = 1; } message B { repeated C c = 1; int32 i = 2; }"
            " message C { map<int32, B> b = 1; string s = 2; }",
            "p.A",
            "b STRUCT<c: ARRAY<STRUCT<b: MAP<STRING, STRING>, s: STRING>>, i: INT>",
            ["$.b.c[*].b[*]"],
        ),
        (
            "message Event { repeated KeyValue attributes = 1; }"
            " message KeyValue { string key = 1; AnyValue value = 2; }"
            " message AnyValue { oneof v { string s = 1; ArrayValue a = 2; KeyValues k = 3; } }"
            " message ArrayValue { repeated AnyValue values = 1; }"
            " message KeyValues { repeated KeyValue values = 1; }",
            "p.Event",
            "attributes ARRAY<STRUCT<key: STRING, value: STRUCT<s: STRING,"
            " a: STRUCT<values: ARRAY<STRING>>, k: STRUCT<values: ARRAY<STRING>>>>>",
            ["$.attributes[*].value.a.values[*]", "$.attributes[*].value.k.values[*]"],
        ),
    ],
)
def test_where_a_message_begins_anew_its_text_is_held(
    source: str, name: str, columns: str, places: list[str]
) -> None:
    found = protobuf_declared(of_file(HEAD + source), name)
    assert found.columns == parse_columns(columns)
    told = [f"{each}: the schema holds itself" for each in places]
    assert [str(each) for each in found.as_text] == told


def test_messages_within_each_other_have_an_end() -> None:
    names = [f"M{n}" for n in range(12)]
    fields = " ".join(f"{each} f{n} = {n};" for n, each in enumerate(names, 1))
    source = HEAD + " ".join(f"message {each} {{ {fields} }}" for each in names)
    with pytest.raises(ValueError, match="expected at most 10000 fields in all its messages"):
        protobuf_declared(of_file(source), "p.M0")


def test_of_twins_the_first_has_the_column() -> None:
    source = HEAD + "message M { int32 ID = 1; string id = 2; N n = 3; M Up = 4; M up = 5; }"
    source += " message N { int32 a = 1; int32 A = 2; }"
    found = protobuf_declared(of_file(source), "p.M")
    assert found.columns == parse_columns("ID INT, n STRUCT<a: INT>, Up STRING")
    assert [each.place for each in found.unread] == [("id",), ("n", "A"), ("up",)]
    assert [each.place for each in found.as_text] == [("Up",)]


def test_a_name_of_sluices_own_at_the_top_is_told_and_no_column() -> None:
    source = HEAD + "message M { int32 _offset = 1; N n = 2; int32 _id = 3; }"
    source += " message N { int32 _offset = 1; }"
    found = protobuf_declared(of_file(source), "p.M")
    assert found.columns == parse_columns("n STRUCT<_offset: INT>, _id INT")
    assert [str(each) for each in found.unread] == [
        "$._offset: Sluice has its own column of this name"
    ]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("Timestamp", "string iso = 1;"),
        ("Timestamp", "int32 nanos = 1; int64 seconds = 2;"),
        ("Duration", ""),
        ("Int64Value", "int32 other = 1; int64 value = 2;"),
        ("Int64Value", "int32 other = 1;"),
        ("StringValue", "repeated string value = 1;"),
        ("Value", "int32 a = 1;"),
    ],
)
def test_a_message_that_only_has_the_name_of_protobufs_own_is_refused(
    name: str, fields: str
) -> None:
    source = (
        'syntax = "proto3"; package google.protobuf;'
        f" message {name} {{ {fields} }} message M {{ {name} x = 1; }}"
    )
    told = f"x: expected Protobuf's own google.protobuf.{name}, found a message of this name"
    with pytest.raises(ValueError, match=told):
        protobuf_declared(of_file(source), "google.protobuf.M")


def test_a_copy_of_protobufs_own_message_is_one() -> None:
    source = (
        'syntax = "proto3"; package google.protobuf;'
        " message Timestamp { int64 seconds = 1; int32 nanos = 2; } message M { Timestamp x = 1; }"
    )
    found = protobuf_declared(of_file(source), "google.protobuf.M").columns
    assert found == parse_columns("x TIMESTAMP")


def test_a_message_twice_in_another_is_not_recursive() -> None:
    source = HEAD + "message M { A a = 1; A b = 2; } message A { int32 i = 1; }"
    found = protobuf_declared(of_file(source), "p.M").columns
    assert found == parse_columns("a STRUCT<i: INT>, b STRUCT<i: INT>")


def test_a_registrys_schema_has_references_and_its_first_message_is_meant() -> None:
    main = HEAD + 'import "base.proto"; message M { q.B b = 1; } message N { int32 i = 1; }'
    base = 'syntax = "proto3"; package q; message B { int32 i = 1; }'
    schema = of_registry("7", main, **{"base.proto": base})
    assert [each.name for each in schema.references] == ["base.proto"]
    assert protobuf_declared(schema, None).columns == parse_columns("b STRUCT<i: INT>")
    assert protobuf_declared(schema, "p.N").columns == parse_columns("i INT")
    lacking = RegisteredSchema("7", "PROTOBUF", schema.text)
    with pytest.raises(ValueError, match=r"expected base.proto, which it imports, found no such"):
        protobuf_declared(lacking, None)


def test_equal_names_of_two_schemas_do_not_meet() -> None:
    one, two = HEAD + "message M { int32 i = 1; }", HEAD + "message M { string s = 1; }"
    assert protobuf_declared(of_file(one), "p.M").columns == parse_columns("i INT")
    assert protobuf_declared(of_file(two), "p.M").columns == parse_columns("s STRING")


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("%%%", "expected a descriptor in base64"),
        (base64.b64encode(b"\xff\xff").decode(), "expected a descriptor set, found other bytes"),
        ("", "expected a message"),
        (base64.b64encode(b"\x0a\x01\xff").decode(), "main.desc"),
    ],
)
def test_what_is_no_descriptor_is_refused(text: str, refused: str) -> None:
    with pytest.raises(ValueError, match=refused):
        protobuf_declared(RegisteredSchema("main.desc", "PROTOBUF", text), None)


@given(st.data(), st.sampled_from([descriptor_set({"main.proto": ORDER}), b""]))
def test_any_bytes_are_a_schema_or_refused(data: st.DataObject, content: bytes) -> None:
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 6)))
    changed = content[:start] + data.draw(st.binary(max_size=6)) + content[end:]
    text = base64.b64encode(changed).decode()
    with contextlib.suppress(ValueError):
        protobuf_declared(RegisteredSchema("main.desc", "PROTOBUF", text), "shop.Order")


def test_a_reference_that_is_no_descriptor_is_refused_by_its_name() -> None:
    schema = of_registry("7", HEAD + "message M { int32 i = 1; }")
    broken = RegisteredSchema("7", "PROTOBUF", schema.text, (Reference("x.proto", "//8="),))
    with pytest.raises(ValueError, match=r"x\.proto: expected a descriptor set, found other"):
        protobuf_declared(broken, None)


def test_messages_are_counted_as_confluents_wire_format_does() -> None:
    source = (
        HEAD
        + """message A { map<string, int32> m = 1; message B { message C {} } message D {} }
    message E {}"""
    )
    found = messages(message_of(of_file(source), "p.A").file)
    assert {indexes: each.full_name for indexes, each in found.items() if each.name != "B"} == {
        (0,): "p.A",
        (0, 1, 0): "p.A.B.C",
        (0, 2): "p.A.D",
        (1,): "p.E",
    }


def test_a_spec_names_a_descriptor_set_and_a_message() -> None:
    files = {"orders.desc": descriptor_set({"main.proto": ORDER})}
    keys = {"type": "protobuf", "schema_file": "orders.desc", "record": "shop.Other"}
    found = ProtobufFormat.model_validate(keys, context={"files": files})
    assert found.columns == parse_columns("i INT")


READER = HEAD + "message M { %s } message S { int32 i = 1; } enum E { A = 0; B = 1; }"


@pytest.mark.parametrize(
    ("written", "read", "told"),
    [
        ("int32 x = 1;", "int32 x = 1;", None),
        ("int32 x = 1;", "int64 x = 1;", None),
        ("int64 x = 1;", "int32 x = 1;", "x: expected int32, found int64"),
        ("sint32 x = 1;", "int32 x = 1;", "x: expected int32, found sint32"),
        ("int32 x = 1;", "uint64 x = 1;", "x: expected uint64, found int32"),
        ("uint32 x = 1;", "int64 x = 1;", None),
        ("bool x = 1;", "int32 x = 1;", None),
        ("E x = 1;", "string x = 1;", "x: expected string, found enum"),
        ("int32 x = 1;", "E x = 1;", None),
        ("double x = 1;", "fixed64 x = 1;", "x: expected fixed64, found double"),
        ("string x = 1;", "bytes x = 1;", None),
        ("S x = 1;", "string x = 1;", "x: expected string, found message"),
        ("repeated int32 x = 1;", "int32 x = 1;", "x: expected int32, found repeated int32"),
        ("int32 x = 1;", "repeated int32 x = 1;", None),
        ("int32 y = 1; string z = 2;", "int32 x = 1;", None),
        (
            "map<string, int64> x = 1;",
            "map<string, int32> x = 1;",
            "x.value: expected int32, found int64",
        ),
        (
            "optional int32 x = 1; optional int32 y = 2;",
            "oneof c { int32 x = 1; int32 y = 2; }",
            "c: expected one of x, y, found that several may be set",
        ),
        (
            "int32 x = 1; oneof c { int32 y = 2; }",
            "oneof c { int32 x = 1; int32 y = 2; }",
            "c: expected one of x, y, found that several may be set",
        ),
        ("oneof d { int32 x = 1; int32 y = 2; }", "oneof c { int32 y = 2; int32 x = 1; }", None),
        ("int32 x = 1;", "oneof c { int32 x = 1; int32 y = 2; }", None),
        ("oneof c { int32 x = 1; int32 y = 2; }", "optional int32 x = 1; int32 y = 2;", None),
    ],
)
def test_a_writer_whose_values_would_be_read_as_others_clashes(
    written: str, read: str, told: str | None
) -> None:
    writer = message_of(of_file(READER % written), "p.M")
    reader = message_of(of_file(READER % read), "p.M")
    assert clash(writer, reader) == told


def test_a_map_whose_entries_are_spoilt_is_refused() -> None:
    source = HEAD + "message M { map<string, int32> m = 1; }"
    content = descriptor_set({"main.proto": source})
    text = base64.b64encode(content.replace(b"\x05value", b"\x05valuf")).decode()
    with pytest.raises(ValueError, match=r"p.M.m: expected a map's entries with key and value"):
        protobuf_declared(RegisteredSchema("main.desc", "PROTOBUF", text), "p.M")


def test_what_every_schema_may_import_is_googles_own() -> None:
    content = descriptor_set({"main.proto": ORDER})
    text = base64.b64encode(content.replace(b"\x07seconds", b"\x07secondz")).decode()
    found = message_of(RegisteredSchema("main.desc", "PROTOBUF", text), "shop.Order")
    timestamp = found.fields_by_name["at"].message_type
    assert [each.name for each in timestamp.fields] == ["seconds", "nanos"]


def test_recursive_messages_are_compared_to_their_end() -> None:
    source = HEAD + "message M { N n = 1; } message N { M m = 1; repeated N n = 2; %s x = 3; }"
    of = {kind: message_of(of_file(source % kind), "p.M") for kind in ("int32", "int64")}
    assert clash(of["int64"], of["int64"]) is None
    assert clash(of["int64"], of["int32"]) == "n.x: expected int32, found int64"
    assert message_loss(of["int32"], of["int32"]) == ""
    loss = message_loss(of["int64"], of["int32"])
    assert loss == "n.x: expected int32, found int64"


def test_a_message_without_fields_leads_to_raw() -> None:
    with pytest.raises(ValueError, match=r"p.M: expected a message with fields.*`type: raw` lands"):
        protobuf_declared(of_file(HEAD + "message M {}"), "p.M")
