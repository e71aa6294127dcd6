"""Bytes that are no datum of their schema are refused before anything is made of them."""

from __future__ import annotations

import pytest

from tests.decoding.avro_decoding import AvroTable, AvroTogether, Judged, framed, record, schema
from tests.decoding.reference_json import Undecodable

pytestmark = pytest.mark.spark
TOGETHER = AvroTogether()

FLAT = record({"n": "int", "s": "string", "e": ["null", "boolean"]})
BROKEN = {
    b"": "n: expected a number, found the end of the record",
    b"\x02\x02a": "e: expected a number, found the end of the record",
    b"\x02\x04a": "s: expected 2 bytes, found 1",
    b"\x02\x02a\0\0": "expected the end of the record, found 1 more bytes",
    b"\x02\x01": "s: expected a length, found -1",
    b"\x02\xff\xff\xff\xff\x0f": f"s: expected a length, found {-(2**31)}",
    b"\x02\x80\x80\x80\x80\x10": f"s: expected {2**31} bytes, found 0",
    b"\x02\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01": f"s: expected {2**63 - 1} bytes, found 0",
    b"\xff\xff\xff\xff\xff\x01": "n: expected an int, found one of more than 32 bits",
    b"\x02\x02\xff\0": 's: expected text in UTF-8, found bytes "FF"',
    b"\x02\x06\xed\xa0\x80\0": 's: expected text in UTF-8, found bytes "EDA080"',
    b"\x02\x02a\x04": "e: expected the place of a union's type below 2, found 2",
    b"\x02\x02a\x01": "e: expected the place of a union's type below 2, found -1",
    b"\x02\x02a\x02\x02": "e: expected a boolean, found the byte 2",
}


@TOGETHER.clause
def test_bytes_that_are_no_datum_are_refused() -> Judged:
    found = yield AvroTable(schema(FLAT), list(BROKEN))
    assert found == [Undecodable(each) for each in BROKEN.values()]


@TOGETHER.clause
def test_a_value_that_begins_as_another_kind_is_told() -> Judged:
    fields = schema(record({"id": "long", "name": "string"}))
    table = {
        b"Obj\x01\x04\x14avro.codec": "an Avro container file",
        b"\xc3\x01\x01\x02\x03\x04\x05\x06\x07\x08\x06": "an Avro single object",
        b"\x03\x00" + bytes(range(1, 17)): "AWS Glue's frame",
        b"\x00\x00\x00\x00\x07\x02": "Confluent's frame with schema id 7",
        b"\x1f\x8b\x08\x00": "gzip",
    }
    found = yield AvroTable(fields, [*table, b"\xc3\x01\x02a"])
    for each, kind in zip(found, table.values(), strict=False):
        assert isinstance(each, Undecodable)
        assert each.reason.endswith(f" (the value begins like {kind})"), each
    # It decodes as it stands: the beginning alone proves nothing.
    assert found[-1] == {"id": -98, "name": "a"}


HUGE = b"\xfe\xff\xff\xff\x0f"  # 2 ** 31 - 1
COLLECTIONS = record(
    {
        "a": {"type": "array", "items": {"type": "array", "items": "string"}},
        "m": {"type": "map", "values": "bytes"},
        "f": {"type": "enum", "name": "E", "symbols": ["A"]},
    }
)


@TOGETHER.clause
def test_counts_beyond_the_bytes_are_refused_before_anything_is_made() -> Judged:
    broken = {
        HUGE: f"a: expected {2**31 - 1} elements, found 0 bytes",
        b"\x02" + HUGE: f"a[0]: expected {2**31 - 1} elements, found 0 bytes",
        b"\x00" + HUGE: f"m: expected {2**31 - 1} elements, found 0 bytes",
        b"\x00\x02\x02a" + HUGE: f"m[0]: expected {2**31 - 1} bytes, found 0",
        b"\x00\x02\x02\xff\x00\x00\x00": 'm[0]: expected text in UTF-8, found bytes "FF"',
        b"\x00\x00\x02": "f: expected the place of a symbol below 1, found 1",
        b"\x01\x04\x00\x00\x00\x00": "a: expected a block's end at byte 4, found it at 3",
        b"\xff" * 9 + b"\x01\x00": f"a: expected {-(2**63)} elements, found 0 bytes",
    }
    found = yield AvroTable(schema(COLLECTIONS), list(broken))
    assert found == [Undecodable(each) for each in broken.values()]


@TOGETHER.clause
def test_blocks_with_their_size_are_read() -> Judged:
    (found,) = yield AvroTable(schema(COLLECTIONS), [b"\x01\x02\x00\x02\x00\x00\x00\x00"])
    assert found == {"a": [[], []], "m": {}, "f": "A"}


@TOGETHER.clause
def test_a_recursive_writer_is_read_to_a_depth() -> Judged:
    tree = record({"v": "int", "next": ["null", "a.Order"]})
    reader = schema(record({"v": "int"}), "2")
    deep = [b"\x02" + b"\x02\x02" * levels + b"\0" for levels in (0, 1, 150, 400, 200_000)]
    found = yield AvroTable(reader, [framed(1, each) for each in deep], {"1": schema(tree)})
    assert found[:3] == [{"v": 1}] * 3
    assert all(isinstance(each, Undecodable) for each in found[3:])
