"""Messages that do not fit: what is no message, and what Protobuf would pass over in silence."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.decoding.alike import alike
from tests.decoding.protobuf_decoding import (
    PROTO2,
    Old,
    decoded_protobuf,
    read,
    read_old,
    referred,
    some,
)
from tests.worlds.protobuf_schemas import ORDER, message_class

pytestmark = pytest.mark.spark

Order = message_class(ORDER, "shop.Order")
LAST_SECOND = 253_402_300_799
ERRORS = [
    (Order(e=7), "e: expected shop.Status, found 7"),
    (Order(states=[0, 9]), "states[1]: expected shop.Status, found 9"),
    (
        Order(items=[{}, {"state": 5}]),
        "items[1].state: expected shop.Status, found 5",
    ),
    (Order(by={3: {"state": 5}}), 'by["3"].state: expected shop.Status, found 5'),
    (
        Order(at={"seconds": LAST_SECOND + 1}),
        'at: expected TIMESTAMP, found {"seconds":253402300800,"nanos":0}',
    ),
    (Order(at={"nanos": -1}), 'at: expected TIMESTAMP, found {"seconds":0,"nanos":-1}'),
    (
        Order(took={"seconds": 1, "nanos": -1}),
        'took: expected DECIMAL(21,9), found {"seconds":1,"nanos":-1}',
    ),
    (Order(any_json={"null_value": 7}), "any_json: expected google.protobuf.NullValue, found 7"),
    (
        Order(any_json={"number_value": math.nan}),
        "any_json: expected a number that JSON has, found NaN",
    ),
]


def test_a_value_that_does_not_fit_says_where_expected_and_found(spark: SparkSession) -> None:
    found = read(spark, *(made.SerializeToString() for made, _ in ERRORS))
    assert found == [error for _, error in ERRORS]


def deep(levels: int) -> bytes:
    """A Value of so many lists in one another."""
    value = b""
    for _ in range(levels):
        inner = b"\x0a" + varint(len(value)) + value
        value = b"\x32" + varint(len(inner)) + inner
    return b"\xd2\x01" + varint(len(value)) + value


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


NOT_ONE = "not one shop.Order message: "
TOO_DEEP = NOT_ONE + "Protocol message had too many levels of nesting"
TOO_LONG = NOT_ONE + "expected a number of the wire format, found one of more than "
CUT = NOT_ONE + "While parsing a protocol message, the input ended unexpectedly in the middle"
BROKEN = {
    b"\x08": CUT,
    Order(i=1).SerializeToString() + b"\x00": NOT_ONE,
    b"\x00\x00": NOT_ONE,
    b"\x0e": NOT_ONE,
    b"\x42\xff\xff\xff\xff\x07ab": CUT,
    b"\x42\xff\xff\xff\xff\x0fab": NOT_ONE,
    b"\x08" + b"\xff" * 11: NOT_ONE,
    b"\xa3\x06": NOT_ONE,
    b"\xa4\x06": NOT_ONE,
    b"\x88\x80\x80\x80\x80\x00\x01": TOO_LONG,
    b"\x88\x80\x80\x80\x10\x01": TOO_LONG + "32 bits",
    b"\x08" + b"\xff" * 10 + b"\x01": NOT_ONE,
    b"\x6a\x0b" + b"\xff" * 10 + b"\x01": TOO_LONG + "10 bytes",
    b"\x42\x81\x80\x80\x80\x80\x00a": TOO_LONG + "5 bytes",
    b"\x72\x07\x8a\x80\x80\x80\x80\x00\x00": TOO_LONG,
    b"\xa3\x06" * 200 + b"\xa4\x06" * 200: TOO_DEEP,
    b"\xa3\x06" * 100_000: TOO_DEEP,
    b"\x42\x01\xff": 's: expected STRING, found "',
    b"\x42\x03\xed\xa0\x80": 's: expected STRING, found "',
    b"\x72\x03\x0a\x01\xff": 'items[0].sku: expected STRING, found "',
    b"\x7a\x03\x0a\x01\xff": 'm[…]: expected STRING, found "',
}


def test_bytes_that_are_no_message_are_an_error(spark: SparkSession) -> None:
    found = read(spark, *BROKEN)
    for data, error in zip(BROKEN, found, strict=True):
        assert str(error).startswith(BROKEN[data]), (data, error)


def test_a_value_that_begins_as_another_kind_is_told(spark: SparkSession) -> None:
    order = Order(i=1, s="a").SerializeToString()
    delimited = varint(len(order)) + order
    table = {
        delimited: "messages, each after its length",
        delimited * 3: "messages, each after its length",
        b"\x00\x00\x00\x00\x07\x00" + order: "Confluent's frame with schema id 7",
        b"\x1f\x8b\x08\x00": "gzip",
    }
    for found, kind in zip(read(spark, *table), table.values(), strict=True):
        assert str(found).endswith(f" (the value begins like {kind})"), found
    (cut,) = read(spark, delimited[:-1])
    assert "begins like" not in str(cut)


def test_of_what_is_too_deep_the_parser_knows(spark: SparkSession) -> None:
    whole, too_deep = read(spark, deep(49), deep(50))
    assert isinstance(whole, dict)
    assert str(too_deep).startswith(TOO_DEEP)


def of_64_bits(number: int) -> bytes:
    return varint(number & (2**64 - 1))


TOO_WIDE = [
    *((b"\x08" + of_64_bits(each), "i") for each in (2**31, 2**32 + 5, 2**40, -(2**31) - 1)),
    (b"\x18" + of_64_bits(2**32), "u"),
    (b"\x18" + of_64_bits(-1), "u"),
    # Cut to 32 bits, they name a status.
    (b"\x50" + of_64_bits(2**32), "e"),
    (b"\xfa\x01\x05" + of_64_bits(2**32), "states"),
    (b"\x7a\x09\x0a\x01k\x10" + of_64_bits(2**32), "value"),
    (b"\x82\x01\x06\x08" + of_64_bits(2**32), "key"),
    (b"\x72\x06\x18" + of_64_bits(2**32), "state"),
]
WIDE = [
    *((b"\x08" + of_64_bits(each), "i", each) for each in (2**31 - 1, -(2**31), -1)),
    (b"\x18" + of_64_bits(2**32 - 1), "u", 2**32 - 1),
    (b"\x50" + of_64_bits(-1), "e", "BACK"),
]


def test_a_number_that_its_field_is_too_small_for_is_not_cut(spark: SparkSession) -> None:
    bodies = [*(data for data, _ in TOO_WIDE), *(data for data, *_ in WIDE)]
    found: list[Any] = read(spark, *bodies)
    told = "not one shop.Order message: expected a number of the wire format, found one of more"
    wide = [f"{told} than 32 bits in {field}" for _, field in TOO_WIDE]
    assert found[: len(wide)] == wide
    values = [(each, field) for each, (_, field, _) in zip(found[len(wide) :], WIDE, strict=True)]
    assert [each[field] for each, field in values] == [value for *_, value in WIDE]
    theirs = referred(ORDER, "shop.Order", bodies)
    assert [isinstance(each, str) for each in theirs] == [isinstance(each, str) for each in found]


WIRE_TYPES = [
    (b"\x0a\x01x", "i: expected INT, found a value of wire type 2"),
    (b"\x40\x05", "s: expected STRING, found a value of wire type 0"),
    (b"\x78\x05", "m: expected MAP<STRING, INT>, found a value of wire type 0"),
    (
        b"\x7a\x04\x08\x05\x10\x07\x7a\x02\x10\x01",
        'm[""]: expected STRING, found a value of wire type 0',
    ),
    (b"\x72\x02\x08\x01", "items[0].sku: expected STRING, found a value of wire type 0"),
    (
        b"\xaa\x01\x02\x0a\x00",
        "at.seconds: expected BIGINT, found a value of wire type 2",
    ),
    (b"\xc2\x01\x02\x08\x01", "ws.value: expected STRING, found a value of wire type 0"),
    (
        b"\xf2\x01\x02\x08\x01",
        "mask.paths: expected ARRAY<STRING>, found a value of wire type 0",
    ),
]


def test_a_field_of_another_wire_type_is_not_passed_over(spark: SparkSession) -> None:
    found = read(spark, *(data for data, _ in WIRE_TYPES))
    assert found == [error for _, error in WIRE_TYPES]


FULL = Order(
    i=1,
    v=2**64 - 1,
    s="é",
    x=b"\0",
    e=1,
    oi=0,
    ri=[1, -1],
    items=[{"sku": "a", "tags": ["b"]}],
    m={"k": 1},
    by={1: {"sku": "c"}},
    a="z",
    at={"seconds": 1},
    took={"nanos": 5},
    w={"value": 3},
    some={"values": [{}]},
).SerializeToString()


FULL_OLD = Old(
    r=1,
    s="é",
    k=1,
    kinds=[0, 2],
    by={"k": 1},
    m={"r": 2, "k": 1},
    ss=["a"],
    texts={"a": "b"},
    g={"i": 5},
).SerializeToString()


def broken(body: bytes, drawn: random.Random) -> bytes:
    """The bytes with some left out, others put in; or others altogether."""
    start = drawn.randrange(len(body) + 1)
    end = min(start + drawn.randrange(5), len(body))
    damaged = body[:start] + drawn.randbytes(drawn.randrange(5)) + body[end:]
    return drawn.choice((damaged, damaged, body[:start], drawn.randbytes(drawn.randrange(30))))


@pytest.mark.parametrize(
    ("source", "record", "whole"),
    [(ORDER, "shop.Order", FULL), (PROTO2, "old.M", FULL_OLD)],
    ids=["proto3", "proto2"],
)
@some
@given(seed=st.integers(0, 2**32))
def test_spark_gives_the_verdict_and_the_row_of_the_reference(
    spark: SparkSession, source: str, record: str, whole: bytes, seed: int
) -> None:
    drawn = random.Random(seed)
    values = [whole, *(broken(whole, drawn) for _ in range(3000))]
    found = decoded_protobuf(spark, source, record, values)
    for value, ours, theirs in zip(values, found, referred(source, record, values), strict=True):
        if isinstance(ours, str):
            assert isinstance(theirs, str), f"{value!r}: {ours}, expected {theirs}"
        else:
            assert alike(ours, theirs), f"{value!r}: {ours}, expected {theirs}"


def test_proto2_a_required_field_without_a_value_is_an_error(spark: SparkSession) -> None:
    assert read_old(spark, b"", Old(r=1, m={}).SerializePartialToString()) == [
        "r: expected a value, as it is required, found none",
        "m.r: expected a value, as it is required, found none",
    ]


def test_proto2_a_required_field_is_missed_beside_a_map_as_well(spark: SparkSession) -> None:
    source = """
    syntax = "proto2"; package p;
    message M { map<string, Kind> by = 1; repeated group G = 2 { required string x = 1; } }
    enum Kind { Z = 0; }
    """
    made = message_class(source, "p.M")(by={"k": 0}, g=[{"x": "a"}, {}, {}])
    found = decoded_protobuf(spark, source, "p.M", [made.SerializePartialToString()])
    assert found == ["g[1].x: expected a value, as it is required, found none"]


PASSED_OVER = [
    (b"\x18\x07", "k: expected old.Kind, found 7"),
    (b"\x20\x07", "kinds: expected old.Kind, found 7"),
    (b"\x22\x02\x01\x07", "kinds: expected old.Kind, found 7"),
    (
        b"\x2a\x05\x0a\x01k\x10\x07",
        'by["k"]: expected old.Kind, found 7',
    ),
    (b"\x32\x04\x08\x01\x10\x07", "m.k: expected old.Kind, found 7"),
    (b"\x12\x01\xff", 's: expected STRING, found "\N{REPLACEMENT CHARACTER}"'),
    (b"\x3a\x01\xff", 'ss[0]: expected STRING, found "\N{REPLACEMENT CHARACTER}"'),
    (b"\x42\x06\x0a\x01k\x12\x01\xff", 'texts["k"]: expected STRING, found'),
    (b"\x42\x06\x0a\x01\xff\x12\x01k", "texts[…]: expected STRING, found"),
]


def test_proto2_what_its_parser_passes_over_is_an_error(spark: SparkSession) -> None:
    found = read_old(spark, *(b"\x08\x01" + data for data, _ in PASSED_OVER))
    for ours, (data, error) in zip(found, PASSED_OVER, strict=True):
        assert str(ours).startswith(error), data
