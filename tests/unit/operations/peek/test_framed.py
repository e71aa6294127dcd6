"""A frame is found as the decoders find it: in a header, or in the first bytes."""

from __future__ import annotations

from uuid import UUID

import pytest
from sluice.operations.peek.framed import Framed, framed
from sluice.spec_file.formats import Source

GUID = "89791762-2336-4186-9674-299b90a802e2"
VALUE, KEY = "__value_schema_id", "__key_schema_id"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (b"\0\0\0\0\x07abc", Framed("7", b"abc")),
        (b"\0\xff\xff\xff\xff", Framed("4294967295", b"")),
        *((each, None) for each in (None, b"", b"\0\0\0\0", b'{"a": 1}', b"\1\0\0\0\7")),
    ],
)
def test_the_first_bytes_name_a_schema(found: bytes | None, expected: Framed | None) -> None:
    assert framed(found, (), "value") == expected


@pytest.mark.parametrize(("source", "name"), [("value", VALUE), ("key", KEY)])
def test_the_last_header_of_the_source_names_it(source: Source, name: str) -> None:
    other = KEY if name == VALUE else VALUE
    headers = [(name, b"\0\0\0\0\x08"), (name, b"\0\0\0\0\x07\2"), (other, b"\0\0\0\0\x09")]
    found = framed(b"\0\0\0\0\1", headers, source)
    assert found == Framed("7", b"\2", b"\0\0\0\0\1")
    assert found.body == b"\0\0\0\0\1"
    guid = framed(b"abc", [(name, b"\1" + UUID(GUID).bytes)], source)
    assert guid == Framed(GUID, b"", b"abc")
    assert framed(b"\0\0\0\0\1", [(name, b"other")], source) is None
    assert framed(b"\0\0\0\0\1x", [(name, None)], source) == Framed("1", b"x")


def test_messages_are_told_by_their_indexes() -> None:
    assert Framed("1", b"\0abc").message() == ((0,), b"abc")
    assert Framed("1", b"\4\2\0abc").message() == ((1, 0), b"abc")
    assert Framed("1", b"\2\2", b"abc").message() == ((1,), b"abc")
    with pytest.raises(ValueError, match="expected 2 message indexes, found 1 bytes"):
        Framed("1", b"\4\2").message()
    for cut in (b"", b"\xff" * 12, b"\2\x80"):
        with pytest.raises(ValueError, match="expected a message index, found a number without"):
            Framed("1", cut).message()
