"""Avro values are what fastavro wrote, for every type; other bytes are refused with their place."""

from __future__ import annotations

import io
import json
import random
from contextlib import suppress
from typing import Any

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sluice.schemas.avro.parsing import parse_avro
from sluice.schemas.avro.values import avro_value
from sluice.schemas.registered import RegisteredSchema

from tests.decoding.drawn_avro import Drawing, same


def record(name: str, **fields: Any) -> dict[str, Any]:
    listed = [{"name": each, "type": found} for each, found in fields.items()]
    return {"type": "record", "name": name, "fields": listed}


def fixed(name: str, size: int, **logical: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": size, **logical}


EVERY = record(
    "Node",
    nodes={"type": "array", "items": "Node"},
    nothing="null",
    truth=["boolean"],
    int="int",
    long=["null", "long"],
    float="float",
    double="double",
    text="string",
    bytes="bytes",
    fixed=fixed("Fixed", 3),
    enum={"type": "enum", "name": "Enum", "symbols": ["A", "B"]},
    day={"type": "int", "logicalType": "date"},
    small={"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    large=fixed("Large", 40, logicalType="decimal", precision=90, scale=40),
    empties={"type": "array", "items": record("Empty")},
    number=["long", "null", "int"],
    either=["null", "string", "Node", "bytes", "Empty"],
    named={"type": "map", "values": {"type": "array", "items": ["null", "Node"]}},
)


def plain(schema: Any) -> Any:
    """Without logical types: fastavro is given the bytes themselves."""
    return json.loads(json.dumps(schema).replace('"logicalType"', '"was"'))


def written(schema: Any, value: Any) -> bytes:
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(plain(schema)), value)
    return body.getvalue()


def read(schema: Any, content: bytes) -> Any:
    return avro_value(parse_avro(RegisteredSchema("7", "AVRO", json.dumps(schema))), content)


@settings(deadline=None)
@given(seed=st.integers(0, 2**32))
def test_each_type_is_read_as_it_was_written(seed: int) -> None:
    drawn = Drawing(EVERY, random.Random(seed)).datum(EVERY)
    found = read(EVERY, written(EVERY, drawn.written))
    assert same(json.loads(json.dumps(found)), drawn.told), (found, drawn.told)


@given(content=st.binary(max_size=40))
def test_other_bytes_are_read_or_refused(content: bytes) -> None:
    with suppress(ValueError):
        assert isinstance(read(EVERY, content), dict)


@pytest.mark.parametrize(
    ("schema", "content", "said"),
    [
        ("int", b"\x02\x02", "expected the end at byte 1, found 1 more"),
        ("string", b"\x08ab", "expected 4 bytes at byte 1, found 2 to the end"),
        ("string", b"\x02\xff", "expected text in UTF-8 at byte 0, found other bytes"),
        ("long", b"\xff" * 11, "expected a number of 64 bits, found more at byte 10"),
        (["null", "int"], b"\x04", "expected one of 2 types at byte 1, found 2"),
        (
            {"type": "array", "items": "null"},
            b"\xfe\xff\xff\xff\x0f\x00",
            "more than 10,000 members without a byte",
        ),
        (
            record("Deep", in_it=["null", "Deep"]),
            b"\x02" * 300,
            "expected at most 100 levels, found more at byte 100",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(schema: Any, content: bytes, said: str) -> None:
    with pytest.raises(ValueError, match="^" + said):
        read(schema, content)


def test_blocks_with_their_size_are_read() -> None:
    assert read({"type": "array", "items": "int"}, b"\x03\x04\x02\x04\x00") == [1, 2]
