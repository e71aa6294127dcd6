"""Message indexes: which message of its schema a Protobuf record is (Confluent's wire format).

Numbers in Protobuf's zigzag encoding: how many follow, then the place within the file, then within
that message, and so on. A single zero stands for the first message of the file.
"""

from __future__ import annotations

from sluice.spec.protobuf_schema import Indexes

# Ten bytes hold 64 bits.
_LONGEST = 10
FIRST: Indexes = (0,)


def split_indexes(data: bytes) -> tuple[Indexes, int]:
    """The indexes, and where the bytes after them begin. Raises ValueError."""
    count, at = _number(data, 0)
    if count == 0:
        return FIRST, at
    # Each takes a byte at least.
    if not 0 < count <= len(data) - at:
        raise ValueError(f"expected {count} message indexes, found {len(data) - at} bytes")
    found = []
    for _ in range(count):
        index, at = _number(data, at)
        found.append(index)
    return tuple(found), at


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(data[at : at + _LONGEST]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at + place + 1
    raise ValueError("expected a message index, found a number without its end")
