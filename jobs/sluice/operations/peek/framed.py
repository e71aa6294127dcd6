"""Framed: which schema of a registry a sampled key or value names, and what follows that. Pure.

A look without a JVM: what a frame is, records are read by, is in jobs/jvm/frames/Frame.scala.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sluice.lake.decoding.frames import header_of
from sluice.spec_file.formats import Source

Headers = Sequence[tuple[str, bytes | None]]
_NUMBER = 5
_GUID = 17
# Ten bytes hold 64 bits.
_LONGEST = 10


@dataclass(frozen=True)
class Framed:
    """The schema's number or GUID, and what follows it where that stands.

    `own` are all the bytes of a key or value whose header names the schema; else None.
    """

    schema: str
    rest: bytes
    own: bytes | None = None

    @property
    def body(self) -> bytes:
        """The record's own bytes, where nothing else stands before them."""
        return self.rest if self.own is None else self.own

    def message(self) -> tuple[tuple[int, ...], bytes]:
        """Which of a Protobuf schema's messages it is, and the bytes of that. Raises ValueError."""
        count, at = _index(self.rest, 0)
        if not 0 <= count <= len(self.rest) - at:
            left = len(self.rest) - at
            raise ValueError(f"expected {count} message indexes, found {left} bytes")
        indexes = []
        for _ in range(count):
            found, at = _index(self.rest, at)
            indexes.append(found)
        # A single zero stands for the first message.
        return tuple(indexes) or (0,), self.rest[at:] if self.own is None else self.own


def framed(found: bytes | None, headers: Headers, source: Source) -> Framed | None:
    """What a key or value names in its first bytes or in its header; None if it names nothing."""
    if found is None:
        return None
    name = header_of(source)
    header = next((each for key, each in reversed(headers) if key == name), None)
    if header is None:
        number = _number(found)
        return None if number is None else Framed(number, found[_NUMBER:])
    if header[:1] == b"\x01" and len(header) >= _GUID:
        return Framed(str(UUID(bytes=header[1:_GUID])), header[_GUID:], found)
    number = _number(header)
    return None if number is None else Framed(number, header[_NUMBER:], found)


def _number(found: bytes) -> str | None:
    if found[:1] != b"\0" or len(found) < _NUMBER:
        return None
    return str(int.from_bytes(found[1:_NUMBER], "big"))


def _index(content: bytes, at: int) -> tuple[int, int]:
    """A number in zigzag encoding, and where it ends."""
    value = 0
    for place, byte in enumerate(content[at : at + _LONGEST]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at + place + 1
    raise ValueError("expected a message index, found a number without its end")
