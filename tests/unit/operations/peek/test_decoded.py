"""What is read by a schema of a registry, and why other bytes are not."""

from __future__ import annotations

import json

import pytest
from sluice.operations.peek.decoded import Decoded, Decoder
from sluice.operations.peek.framed import Framed
from sluice.schemas.registered import RegisteredSchema

from tests.worlds.protobuf_schemas import of_registry

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [{"name": "id", "type": "long"}],
}
OBJECT = {"title": "Order", "type": "object", "properties": {"id": {"type": "integer"}}}
SCHEMAS = {
    "1": RegisteredSchema("1", "AVRO", json.dumps(ORDER)),
    "2": RegisteredSchema("2", "JSON", json.dumps(OBJECT)),
    "3": of_registry("3", 'syntax = "proto3"; package shop; message Order { int32 id = 1; }'),
    "4": RegisteredSchema("4", "AVRO", '{"type": "other"}'),
    "5": RegisteredSchema("5", "JSON", "{}"),
    "6": RegisteredSchema("6", "AVRO", '"long"'),
}


def decoded(schema: str, content: bytes) -> Decoded:
    return Decoder(SCHEMAS, {"9": "gone"}).decoded(Framed(schema, content))


@pytest.mark.parametrize(
    ("schema", "content", "expected"),
    [
        ("1", b"\x0a", Decoded("1", "AVRO", "shop.Order", {"id": 5})),
        ("2", b'{"id": 5}', Decoded("2", "JSON", "Order", {"id": 5})),
        ("3", b"\0\x08\x05", Decoded("3", "PROTOBUF", "shop.Order", {"id": 5})),
        ("5", b"[1.5]", Decoded("5", "JSON", "", [1.5])),
        ("6", b"\x0a", Decoded("6", "AVRO", "", 5)),
        ("9", b"", Decoded("9", why="gone")),
        ("8", b"", Decoded("8", why="no schema 8 is known")),
    ],
)
def test_each_kind_is_read(schema: str, content: bytes, expected: Decoded) -> None:
    assert decoded(schema, content) == expected


@pytest.mark.parametrize(
    ("schema", "content", "record", "why"),
    [
        ("1", b"", "shop.Order", "expected 1 byte at byte 0, found 0 to the end"),
        ("2", b"[]", "Order", "not one JSON object: found a JSON array"),
        ("3", b"\0\x08", "shop.Order", "expected the message shop.Order, found "),
        ("4", b"", "", "schema 4 cannot be read: expected a type that is defined before"),
        ("5", b"x", "", "expected JSON, found "),
    ],
)
def test_what_cannot_be_read_is_told(schema: str, content: bytes, record: str, why: str) -> None:
    found = decoded(schema, content)
    assert (found.schema, found.record, found.value) == (schema, record, None)
    assert found.why.startswith(why)
