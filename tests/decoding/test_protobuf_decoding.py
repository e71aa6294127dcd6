"""Protobuf in Spark: records keep all they have, and get their message's fields or an error."""

from __future__ import annotations

import struct
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import decoder
from sluice.lake.decoding.decoded_fields import ERROR
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import ProtobufFormat, Source

from tests.decoding.decoding import NO_FRAME, UNKNOWN_SCHEMA
from tests.worlds.protobuf_schemas import ORDER, descriptor_set, message_class, of_registry

pytestmark = pytest.mark.spark

RECORDS = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP,"
    " headers ARRAY<STRUCT<key STRING, value BINARY>>"
)
HEAD = 'syntax = "proto3"; package p; '
GUID = uuid.UUID("89791762-2336-4186-9674-299b90a802e2")
Order = message_class(ORDER, "shop.Order")


def from_file(source: str, record: str) -> ProtobufFormat:
    """A format whose schema is a descriptor set beside the spec."""
    keys = {"type": "protobuf", "schema_file": "main.desc", "record": record}
    files = {"main.desc": descriptor_set({"main.proto": source})}
    return ProtobufFormat.model_validate(keys, context={"files": files})


FROM_FILE = from_file(ORDER, "shop.Order")


def rows(values: list[bytes | None], headers: list[Any] | None = None) -> list[tuple[Any, ...]]:
    """Records whose other columns have a bit of everything."""
    at = datetime(2024, 3, 31, 1, 30, 0, 123456, UTC)
    return [
        (
            bytearray(b"\xffk") if place % 2 else None,
            None if value is None else bytearray(value),
            "t",
            place % 3,
            2**40 + place,
            at,
            headers[place] if headers else [("h", bytearray(b"\0")), ("h", None), ("", None)],
        )
        for place, value in enumerate(values)
    ]


def decoded(
    spark: SparkSession,
    form: ProtobufFormat,
    records: list[tuple[Any, ...]],
    writers: dict[str, RegisteredSchema],
    source: Source = "value",
) -> list[dict[str, Any]]:
    """The records and what the product adds, which must leave everything else as it was."""
    given = spark.createDataFrame(records, RECORDS)
    found = decoder(form, source, writers)(given)
    assert found.schema.fields[: len(given.columns)] == given.schema.fields
    before, after = given.toArrow().to_pylist(), found.toArrow().to_pylist()
    name = {"value": "decoded", "key": "decoded_key"}[source]
    added = [row.pop(name) for row in after]
    assert before == after
    return added


def test_every_type_arrives_and_the_record_is_as_it_was(spark: SparkSession) -> None:
    whole = Order(
        i=-1,
        l=-(2**63),
        u=2**32 - 1,
        v=2**64 - 1,
        f=1.5,
        d=0.1,
        b=True,
        s="é",
        x=b"\xff",
        e=1,
        oi=0,
        os="",
        ri=[1, 2],
        states=[0, -1],
        items=[{"sku": "a", "tags": ["x", "y"], "state": 1}, {}],
        m={"b": 2, "a": 1},
        by={5: {"sku": "c"}},
        flags={True: "t"},
        c={"sku": "one of"},
        at={"seconds": -62_135_596_800, "nanos": 1999},
        took={"seconds": -1, "nanos": -5},
        w={"value": 2**53 + 1},
        ws={},
        some={"values": [{"number_value": 1}]},
        packed={"type_url": "t/x", "value": b"\1"},
        nothing={},
        mask={},
    )
    whole.tree.update({"b": [None, 1.5], "a": "x"})
    whole.any_json.bool_value = True
    values = [whole.SerializeToString(), b"", None, b"\xff", Order(e=9).SerializeToString()]
    first, empty, none, broken, misfit = decoded(spark, FROM_FILE, rows(values), {})
    item = {"sku": "", "tags": [], "state": "NEW"}
    assert first == {
        "i": -1,
        "l": -(2**63),
        "u": 2**32 - 1,
        "v": Decimal(2**64 - 1),
        "f": 1.5,
        "d": 0.1,
        "b": True,
        "s": "é",
        "x": b"\xff",
        "e": "SENT",
        "oi": 0,
        "os": "",
        "ri": [1, 2],
        "states": ["NEW", "BACK"],
        "m": [("a", 1), ("b", 2)],
        "flags": [("true", "t")],
        "items": [{"sku": "a", "tags": ["x", "y"], "state": "SENT"}, item],
        "by": [("5", {**item, "sku": "c"})],
        "a": None,
        "c": {**item, "sku": "one of"},
        "n": None,
        "at": datetime(1, 1, 1, 0, 0, 0, 1, UTC),
        "took": Decimal("-1.000000005"),
        "w": 2**53 + 1,
        "ws": "",
        "tree": '{"a":"x","b":[null,1.5]}',
        "any_json": "true",
        "some": "[1]",
        "packed": {"type_url": "t/x", "value": b"\1"},
        "nothing": True,
        "mask": {"paths": []},
        ERROR: None,
    }
    assert (empty["i"], empty["at"], empty["ri"], empty[ERROR]) == (0, None, [], None)
    assert none is None
    cut = "not one shop.Order message: While parsing a protocol message, the input ended"
    assert broken.pop(ERROR).startswith(cut)
    assert misfit.pop(ERROR) == "e: expected shop.Status, found 9"
    assert {*broken.values(), *misfit.values()} == {None}


def framed(number: int, indexes: bytes, body: bytes) -> bytes:
    return struct.pack(">bI", 0, number) + indexes + body


def test_records_of_several_writers_are_read_as_one_reader(spark: SparkSession) -> None:
    old = of_registry("1", HEAD + "message M { int32 i = 1; }")
    reader = of_registry("2", HEAD + "message X {} message M { int32 i = 1; string s = 2; }")
    newer = of_registry(
        "3",
        HEAD + "message A { message B {} message M { int32 i = 1; } } message M { int32 i = 1;"
        " string s = 2; string t = 3; }",
    )
    clashing = of_registry("4", HEAD + "message M { int64 i = 1; }")
    broken = RegisteredSchema("5", "PROTOBUF", 'syntax = "proto3";')
    of_avro = RegisteredSchema("6", "AVRO", '"long"')
    by_guid = RegisteredSchema(str(GUID), "PROTOBUF", newer.text)
    writers = {each.key: each for each in (old, reader, newer, clashing, broken, of_avro, by_guid)}
    M = message_class(HEAD + "message M { int32 i = 1; string s = 2; string t = 3; }", "p.M")
    bare = M(i=7).SerializeToString()
    whole, added = M(i=7, s="x").SerializeToString(), M(i=7, s="x", t="y").SerializeToString()
    cases: list[tuple[bytes, Any, Any]] = [
        (framed(1, b"\0", bare), None, (7, "")),
        (framed(1, b"\2\0", bare), None, (7, "")),
        (framed(2, b"\2\2", whole), None, (7, "x")),
        (framed(2, b"\2\2", b""), None, (0, "")),
        (framed(3, b"\2\2", added), None, (7, "x")),
        (added, [("__value_schema_id", bytearray(b"\1" + GUID.bytes + b"\2\2"))], (7, "x")),
        (whole, [("__value_schema_id", bytearray(b"\0\0\0\0\2\2\2"))], (7, "x")),
        (whole, [("__value_schema_id", bytearray(b"\0\0\0\0\2"))], "schema 2: expected a message"),
        (framed(2, b"\0", whole), None, "schema 2: expected the message p.M, found p.X at the"),
        (framed(3, b"\4\0\2", whole), None, "schema 3: expected the message p.M, found p.A.M at"),
        (framed(2, b"\2\4", whole), None, "found none at the message index 2"),
        (framed(2, b"", b""), None, "schema 2: expected a message index, found a number without"),
        (framed(2, b"\x10\2", b""), None, "schema 2: expected 8 message indexes, found 1 bytes"),
        (framed(2, b"\2\2", b"\x0f"), None, "not one p.M message"),
        (framed(4, b"\0", bare), None, "i: expected int32, found int64 in schema 4"),
        (framed(5, b"\0", bare), None, "name, beside registry, record and a schema_file"),
        (framed(6, b"\0", bare), None, "schema 6: expected PROTOBUF, found AVRO"),
        (framed(2**32 - 1, b"\0", bare), None, f"{UNKNOWN_SCHEMA} 4294967295"),
        (b"", None, NO_FRAME),
        (b"\0\0\0\0", None, NO_FRAME),
        (bare, None, NO_FRAME),
    ]
    form = ProtobufFormat(type="protobuf", registry="r", record="p.M").read_as(reader)
    records = rows([value for value, _, _ in cases], [header for _, header, _ in cases])
    for (value, _, expected), found in zip(
        cases, decoded(spark, form, records, writers), strict=True
    ):
        if isinstance(expected, str):
            assert expected in str(found[ERROR]), (value, found)
            assert (found["i"], found["s"]) == (None, None)
        else:
            assert (found["i"], found["s"], found[ERROR]) == (*expected, None), value


def test_a_schema_file_stands_in_for_a_writers_schema_that_cannot_be_read(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    source = HEAD + "message X {} message M { int32 i = 1; string s = 2; }"
    M = message_class(source, "p.M")
    keys = {"type": "protobuf", "registry": "stand_in", "schema_file": "m.desc", "record": "p.M"}
    files = {"m.desc": descriptor_set({"main.proto": source})}
    form = ProtobufFormat.model_validate(keys, context={"files": files})
    no_source = RegisteredSchema("5", "PROTOBUF", 'syntax = "proto3"; enum E { 1A = 0; }')
    clashing = of_registry("6", HEAD + "message X {} message M { int64 i = 1; }")
    lacking = RegisteredSchema(
        "7",
        "PROTOBUF",
        of_registry("7", HEAD + 'import "b.proto"; message M {}', **{"b.proto": HEAD}).text,
    )
    of_avro = RegisteredSchema("8", "AVRO", '"long"')
    writers = {each.key: each for each in (no_source, clashing, lacking, of_avro)}
    body = M(i=7, s="x").SerializeToString()
    cases = [
        (framed(5, b"\2\2", body), None),
        (framed(5, b"\2\2", M(i=7, s="x").SerializeToString() + b"\x18\1"), None),
        (framed(5, b"\0", body), "schema 5: expected the message p.M, found p.X at the message"),
        (framed(5, b"\2\4", body), "schema 5: expected the message p.M, found none at the"),
        (framed(6, b"\2\2", body), "i: expected int32, found int64 in schema 6"),
        (framed(7, b"\2\2", body), None),
        (framed(8, b"\2\2", body), "schema 8: expected PROTOBUF, found AVRO"),
    ]
    records = rows([value for value, _ in cases], [None for _ in cases])
    with caplog.at_level("WARNING"):
        found = decoded(spark, form, records, writers)
        decoded(spark, form, [], writers)
    for (value, error), row in zip(cases, found, strict=True):
        told = row.pop(ERROR)
        assert (told is None, row["i"]) == ((True, 7) if error is None else (False, None)), value
        assert (error or "") in (told or "")
    (of_5, of_7) = (each for each in caplog.messages if "schema_file" in each)
    assert of_5.startswith(
        "stand_in: schema 5 cannot be read; its records are read as p.M of schema_file m.desc,"
        " without comparing the two: 5: expected a descriptor in base64"
    )
    assert "schema 7 cannot be read" in of_7


def test_an_error_of_many_message_indexes_is_short(spark: SparkSession) -> None:
    reader = of_registry("1", HEAD + "message M { int32 i = 1; }")
    form = ProtobufFormat(type="protobuf", registry="r", record="p.M").read_as(reader)
    record = framed(1, b"\xd0\x0f" + b"\2" * 1000, b"")
    (found,) = decoded(spark, form, rows([record], [[]]), {"1": reader})
    assert len(found[ERROR]) < 200


def test_keys_are_decoded_as_values_are(spark: SparkSession) -> None:
    form = from_file(HEAD + "message K { int32 i = 1; }", "p.K")
    found = decoded(spark, form, rows([b"", b""]), {}, "key")
    assert found[0] is None
    assert found[1][ERROR].startswith("not one p.K message")


def test_no_records_are_no_rows(spark: SparkSession) -> None:
    assert decoded(spark, FROM_FILE, [], {}) == []
