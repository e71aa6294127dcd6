"""Records are read from the schema that each was written with, as the one of the pipeline."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.decoding import reference_avro
from tests.decoding.avro_decoding import (
    AvroTable,
    AvroTogether,
    Judged,
    decoded_avro,
    encoded,
    framed,
    logical,
    record,
    schema,
)
from tests.decoding.decoding import NO_FRAME, UNKNOWN_SCHEMA
from tests.decoding.reference_json import Undecodable

pytestmark = pytest.mark.spark
TOGETHER = AvroTogether()

SMALL = record({"n": "int", "s": "string", "e": ["null", "boolean"]})
READER = record(
    {
        "id": "long",
        "price": "double",
        "note": "string",
        "data": "bytes",
        "added": ["null", "string"],
        "colour": {"type": "enum", "name": "C", "symbols": ["RED", "NONE"], "default": "NONE"},
        "size": {"type": "enum", "name": "S", "symbols": ["L"]},
    },
    added="new",
    colour="RED",
    size="L",
)
READER["fields"][4]["default"] = None
READER["fields"][2]["aliases"] = ["comment"]


def test_each_record_is_read_from_its_own_schema(spark: SparkSession) -> None:
    promoted = {"id": "int", "price": "float", "comment": "bytes", "data": "string"}
    first = record({**promoted, "gone": "string"})
    colours = {"type": "enum", "name": "C", "symbols": ["BLUE", "RED"]}
    sizes = {"type": "enum", "name": "S", "symbols": ["L", "XL"]}
    same = {"id": "long", "note": "string", "data": "bytes"}
    second = record({"colour": colours, "size": sizes, "price": ["null", "long"], **same})
    other = record({"id": "string", "price": "double", "note": "string", "data": "bytes"})
    old = {"id": 1, "price": 0.5, "comment": b"hi", "data": "x", "gone": "y"}
    new = {"id": 2, "price": 3, "note": "n", "data": b"d", "colour": "BLUE", "size": "L"}
    values = [
        framed(1, encoded(first, old)),
        framed(1, encoded(first, {**old, "comment": b"\xff"})),
        framed(2, encoded(second, new)),
        framed(2, encoded(second, {**new, "size": "XL"})),
        framed(2, encoded(second, {**new, "price": None})),
        framed(3, encoded(other, {**new, "id": "a"})),
        framed(4, b""),
        framed(5, b""),
        framed(6, b""),
        b"\x01\0\0\0\1\1",
        b"",
        None,
    ]
    writers = {"1": schema(first), "2": schema(second), "3": schema(other, "3")}
    writers["5"] = schema("{", "5")
    found = decoded_avro(spark, schema(READER, "9"), values, writers)
    columns = {"added": None, "colour": "RED", "size": "L"}
    assert found[0] == {"id": 1, "price": 0.5, "note": "hi", "data": b"x", **columns}
    assert found[1] == Undecodable('schema id 1: note: expected STRING, found "FF"')
    assert found[2] == {**new, "price": 3.0, "added": None, "colour": "NONE"}
    assert isinstance(found[3], Undecodable)
    assert found[3].reason.startswith("schema id 2: ")
    assert "XL" in found[3].reason
    assert found[4] == Undecodable("schema id 2: price: expected double, found null")
    assert found[5] == Undecodable(
        "schema id 3 cannot be read as schema id 9: id: expected long, found string"
    )
    assert found[6] == Undecodable(f"{UNKNOWN_SCHEMA} 4")
    assert isinstance(found[7], Undecodable)
    assert found[7].reason.startswith("schema id 5 cannot be read as schema id 9: schema: expected")
    assert found[8] == Undecodable(f"{UNKNOWN_SCHEMA} 6")
    assert [str(each).partition(", found")[0] for each in found[9:11]] == [
        f"Undecodable(reason='{NO_FRAME}"
    ] * 2
    assert found[11] == dict.fromkeys(READER_NAMES)


READER_NAMES = [each["name"] for each in READER["fields"]]


def test_a_header_names_the_schema_as_well(spark: SparkSession) -> None:
    guid = "5f0a2c9e-1b1e-4a55-9d7c-0123456789ab"
    body = encoded(SMALL, {"n": 1, "s": "a", "e": None})
    headers: list[list[tuple[str, bytes | None]] | None] = [
        [("__value_schema_id", b"\0\0\0\0\x07")],
        [("other", b"x"), ("__value_schema_id", b"\1" + bytes.fromhex(guid.replace("-", "")))],
    ]
    writers = {"7": schema(SMALL, "7"), guid: schema(SMALL, guid)}
    found = decoded_avro(spark, schema(SMALL, "7"), [body, body], writers, headers)
    assert found == [{"n": 1, "s": "a", "e": None}] * 2


@TOGETHER.clause
def test_named_types_of_other_texts_are_known() -> Judged:
    money = json.dumps(
        record({"sum": logical("bytes", "decimal", precision=4, scale=2)}, "m.Money")
    )
    line = json.dumps(record({"price": "m.Money"}, "o.Line"))
    whole = record({"total": "m.Money", "lines": {"type": "array", "items": "o.Line"}}, "o.Order")
    reader = schema(whole, "1", [money, line])
    body = b"\x02\x7b" + b"\x02\x02\x01\x00"
    (found,) = yield AvroTable(reader, [framed(1, body)], {"1": reader})
    expected = {"total": {"sum": Decimal("1.23")}, "lines": [{"price": {"sum": Decimal("0.01")}}]}
    assert found == expected
    assert reference_avro.decode(body, json.dumps(whole), references=[money, line]) == expected


NUMBERS = (0, -1, 2**24, 2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31))
LONGER = (2**53, 2**53 + 1, -(2**53) - 1, 2**53 + 2, 2**62, 2**63 - 1, 1 - 2**63, -(2**63))
ROUNDED = "value: expected a number that a {} holds without rounding, found {}"


@TOGETHER.clause
def test_a_whole_number_is_read_as_a_float_only_where_it_stays_the_same() -> Judged:
    return _promoted("FLOAT", record({"value": ["null", "float"]}), 24)


@TOGETHER.clause
def test_a_whole_number_is_read_as_a_double_only_where_it_stays_the_same() -> Judged:
    return _promoted("DOUBLE", record({"value": "double"}), 53)


def _promoted(ours: str, reader: dict[str, Any], digits: int) -> Judged:
    writers = {"1": record({"value": "int"}), "2": record({"value": "long"})}
    written = [(each, "1") for each in NUMBERS] + [(each, "2") for each in (*NUMBERS, *LONGER)]
    bodies = [encoded(writers[key], {"value": number}) for number, key in written]
    values = [framed(int(key), body) for (_, key), body in zip(written, bodies, strict=True)]
    known = {key: schema(each, key) for key, each in writers.items()}
    found = yield AvroTable(schema(reader, "9"), values, known)
    for (number, key), body, one in zip(written, bodies, found, strict=True):
        exact = number % 2 ** max(abs(number).bit_length() - digits, 0) == 0
        told = f"schema id {key}: {ROUNDED.format(ours, number)}"
        assert one == ({"value": float(number)} if exact else Undecodable(told))
        reference = reference_avro.decode(body, json.dumps(reader), json.dumps(writers[key]))
        assert isinstance(reference, Undecodable) == (not exact), number


@TOGETHER.clause
def test_a_schema_that_is_no_record_is_one_column() -> Judged:
    found = yield AvroTable(schema("long"), [b"\x02", b"\x02\x00", None])
    assert found[0] == {"value": 1}
    assert isinstance(found[1], Undecodable)
    assert found[2] == {"value": None}


@TOGETHER.clause
def test_a_schema_that_is_a_union_is_one_column_as_well() -> Judged:
    either = yield AvroTable(schema(["null", SMALL]), [b"\0", b"\x02\x02\x02a\0"])
    assert either == [{"value": None}, {"value": {"n": 1, "s": "a", "e": None}}]


@TOGETHER.clause
def test_what_only_the_writer_has_is_rescued() -> Judged:
    line = record({"n": "int"}, "a.Line")
    lines = {"type": "array", "items": line}
    writer = record({"id": "int", "note": ["null", "string"], "lines": lines})
    reader = schema(record({"id": "long"}), "2")
    old = encoded(record({"id": "long"}), {"id": 1})
    new = {"id": 2, "note": None, "lines": [{"n": 7}]}
    values = [framed(2, old), framed(1, encoded(writer, new)), framed(1, b"\x02"), None]
    writers = {"1": schema(writer), "2": reader}
    found = yield AvroTable(reader, values, writers, rescue=True)
    assert found[0] == {"id": 1, "_rescued": None}
    assert found[1] == {"id": 2, "_rescued": '{"note":null,"lines":[{"n":7}]}'}
    assert isinstance(found[2], Undecodable)
    assert found[3] == {"id": None, "_rescued": None}


@TOGETHER.clause
def test_a_record_without_fields_is_read() -> Judged:
    reader = schema(record({}), "2")
    values = [framed(2, b""), framed(2, b"a")]
    found = yield AvroTable(reader, values, {"2": reader})
    error = "schema id 2: expected the end of the record, found 1 more bytes"
    assert found == [{}, Undecodable(error)]


@TOGETHER.clause
def test_defaults_of_every_kind_stand_for_what_is_not_there() -> Judged:
    pair = record({"x": "int", "y": ["null", "string"]}, "a.Pair")
    fields: dict[str, Any] = {
        "r": pair,
        "a": {"type": "array", "items": "long"},
        "m": {"type": "map", "values": "string"},
        "d": logical("bytes", "decimal", precision=4, scale=2),
        "u": ["string", "null"],
    }
    defaults: dict[str, Any] = {
        "r": {"x": 1, "y": None},
        "a": [1, 2],
        "m": {"k": "v"},
        "d": "\u007b",
        "u": "t",
    }
    reader = schema(record({"id": "int", **fields}, **defaults), "9")
    written = record({"more": "string", "id": "int"})
    body = framed(1, encoded(written, {"more": "gone", "id": 7}))
    (found,) = yield AvroTable(reader, [body], {"1": schema(written)})
    assert found == {"id": 7, **defaults, "d": Decimal("1.23")}


@TOGETHER.clause
def test_a_field_that_two_mean_is_one_of_them() -> Judged:
    reader = record({"new": "int", "old": "int"}, old=0)
    reader["fields"][0]["aliases"] = ["old"]
    body = framed(1, b"\x02")
    (found,) = yield AvroTable(schema(reader, "9"), [body], {"1": schema(record({"old": "int"}))})
    assert found == {"new": 1, "old": 0}


@TOGETHER.clause
def test_any_number_of_writers_is_known() -> Judged:
    reader = schema(record({"id": "long"}), "999")
    keys = range(1, 301)
    texts = [record({f"x{n}": "string", "id": "int"}) for n in keys]
    bodies = [encoded(text, {f"x{n}": "a", "id": n}) for n, text in zip(keys, texts, strict=True)]
    values = [framed(n, body) for n, body in zip(keys, bodies, strict=True)]
    writers = {str(n): schema(text, str(n)) for n, text in zip(keys, texts, strict=True)}
    found = yield AvroTable(reader, values, writers)
    assert found == [{"id": n} for n in keys]


@TOGETHER.clause
def test_a_record_is_read_as_the_one_of_a_union_that_is_no_record() -> Judged:
    body = framed(1, encoded(SMALL, {"n": 1, "s": "a", "e": None}))
    (found,) = yield AvroTable(schema([SMALL, "null"], "9"), [body], {"1": schema(SMALL)})
    assert found == {"value": {"n": 1, "s": "a", "e": None}}


DAY = logical("int", "date")
TOO_LATE = 2_932_897


@TOGETHER.clause
def test_a_default_that_no_column_holds_is_an_error_of_each_record() -> Judged:
    days = {"type": "array", "items": DAY}
    reader = schema(record({"id": "int", "days": days}, days=[0, TOO_LATE]), "9")
    values = [framed(1, b"\x02"), framed(1, b"\x04"), framed(1, b"")]
    found = yield AvroTable(reader, values, {"1": schema(record({"id": "int"}))})
    told = f"schema id 1: days[1]: expected DATE, found {TOO_LATE}"
    end = "schema id 1: id: expected a number, found the end of the record"
    assert found == [Undecodable(told), Undecodable(told), Undecodable(end)]


@TOGETHER.clause
def test_what_stands_for_something_else_is_not_read_where_another_type_of_a_union_is() -> Judged:
    def either(unit: str, scale: int) -> dict[str, Any]:
        moment = logical("long", f"timestamp-{unit}")
        return record({"at": [moment, logical("bytes", "decimal", precision=4, scale=scale)]})

    writers = {"1": schema(either("micros", 2)), "2": schema(either("millis", 1), "2")}
    values = [framed(key, body) for key in (1, 2) for body in (b"\0\2", b"\2\2\1")]
    found = yield AvroTable(schema(either("millis", 2), "9"), values, writers)
    told = "schema id {}: at: expected [long, bytes], found {}"
    assert found == [
        Undecodable(told.format(1, "long")),
        {"at": {"member0": None, "member1": Decimal("0.01")}},
        {"at": {"member0": datetime(1970, 1, 1, 0, 0, 0, 1000), "member1": None}},
        Undecodable(told.format(2, "bytes")),
    ]


@TOGETHER.clause
def test_dates_and_times_are_rescued_as_the_numbers_that_they_are() -> Judged:
    more = {
        "day": DAY,
        "times": {"type": "array", "items": ["null", logical("long", "timestamp-micros")]},
        "length": logical({"type": "fixed", "name": "P", "size": 12}, "duration"),
        "sum": logical("bytes", "decimal", precision=4, scale=2),
    }
    writer = record({"id": "int", **more})
    body = b"\x02" + b"\x05" + b"\x02\x02\x06\x00" + bytes(11) + b"\1" + b"\x02\x7b"
    reader, writers = schema(record({"id": "int"}), "9"), {"1": schema(writer)}
    (found,) = yield AvroTable(reader, [framed(1, body)], writers, rescue=True)
    rescued = '{"day":-3,"times":[3],"length":"AAAAAAAAAAAAAAAB","sum":1.23}'
    assert found == {"id": 1, "_rescued": rescued}
