"""Protobuf values are the message that the frame names, as Google's library has it in JSON."""

from __future__ import annotations

import pytest
from sluice.operations.peek.framed import Framed
from sluice.schemas.protobuf.values import ProtobufValues

from tests.worlds.protobuf_schemas import of_registry

SOURCE = """
syntax = "proto3";
package shop;
message Order { int64 id = 1; string name = 2; bytes raw = 3; optional int32 more = 4; }
message Click { message Place { int32 x = 1; } Place at = 1; }
"""


def test_each_message_of_a_file_is_read() -> None:
    values = ProtobufValues(of_registry("7", SOURCE))
    order = Framed("7", b"\0\x08\x05\x12\x01a")
    assert values.record(order) == "shop.Order"
    assert values.value(order) == {"id": "5", "name": "a", "raw": ""}
    place = Framed("7", b"\4\2\0\x08\x05")
    assert (values.record(place), values.value(place)) == ("shop.Click.Place", {"x": 5})


@pytest.mark.parametrize(
    ("rest", "record", "said"),
    [
        (b"\2\x08\x05", "", "expected a message of the schema, found none at index 4"),
        (b"", "", "expected a message index, found a number without its end"),
        (b"\0\x08", "shop.Order", "expected the message shop.Order, found "),
    ],
)
def test_others_are_refused(rest: bytes, record: str, said: str) -> None:
    values, found = ProtobufValues(of_registry("7", SOURCE)), Framed("7", rest)
    assert values.record(found) == record
    with pytest.raises(ValueError, match=said):
        values.value(found)
