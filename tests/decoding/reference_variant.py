"""A second opinion on VARIANT, whose bytes Parquet specifies, in plain Python.

    Variant.read(value, metadata) == Variant.of(one_value(b'{"n": 1, "s": [1.50, 1e2, null]}'))

(apache/parquet-format, VariantEncoding.md.) Of a name that is repeated the last value counts.
"""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from tests.decoding.reference_json_text import Members, Misfit, Number

_LONG = range(-(2**63), 2**63)
_MOST_DIGITS, _DOUBLES_DIGITS = 38, 17
_LEVELS = 500
_WHOLE = {3: 1, 4: 2, 5: 4, 6: 8}
_DECIMALS = {8: 4, 9: 8, 10: 16}
# A call for each of a thousand levels.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 5000))


@dataclass(frozen=True, eq=False)
class Variant:
    """What a VARIANT holds: objects as dict, numbers as int, Decimal with its scale, or float.

    Another equals it only with the same types and scales of all numbers.
    """

    content: Any

    @classmethod
    def of(cls, value: Any) -> Variant:
        """Of JSON, as it was parsed. Raises Misfit for what a VARIANT cannot hold."""
        return cls(_held(value, 0))

    @classmethod
    def read(cls, value: bytes, metadata: bytes) -> Variant:
        """Of the bytes in a table."""
        return cls(_content(value, metadata))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Variant) and _exact(self.content) == _exact(other.content)

    def __hash__(self) -> int:
        return hash(str(_exact(self.content)))


def _held(value: Any, level: int) -> Any:
    if isinstance(value, Members | list) and level == _LEVELS:
        raise Misfit("too deep for a VARIANT")
    match value:
        case Members():
            return {name: _held(each, level + 1) for name, each in value.last().items()}
        case list():
            return [_held(each, level + 1) for each in value]
        case Number():
            return _number(str.__str__(value))
    return value


def _exact(value: Any) -> Any:
    match value:
        case dict():
            return sorted((name, _exact(each)) for name, each in value.items())
        case list():
            return [_exact(each) for each in value]
        case float():
            return "double", value.hex()
        case Decimal():
            return "decimal", value.as_tuple()
    return type(value).__name__, value


def _number(text: str) -> int | Decimal | float:
    if text.lstrip("-").isdecimal() and len(text) < 21 and int(text) in _LONG:
        return int(text)
    mantissa = text.lower().partition("e")[0]
    digits = mantissa.lstrip("-").replace(".", "")
    if mantissa == text and len(text) <= 41:
        exact = Decimal(text)
        scale = -int(exact.as_tuple().exponent)
        if scale <= _MOST_DIGITS and len(exact.as_tuple().digits) <= _MOST_DIGITS:
            return exact if exact else abs(exact)
    near, significant = float(text), len(digits.strip("0"))
    if abs(near) == float("inf") or significant > _DOUBLES_DIGITS or (not near and significant):
        raise Misfit(f"no number of a VARIANT: {text}")
    return near


def _content(value: bytes, metadata: bytes) -> Any:
    assert metadata[0] & 0b1111 == 1, "the version"
    size = (metadata[0] >> 6) + 1
    count, ends = _whole(metadata, 1, size), 1 + size
    offsets = [_whole(metadata, ends + n * size, size) for n in range(count + 1)]
    first = ends + (count + 1) * size
    names = [metadata[first + start : first + end].decode() for start, end in pairwise(offsets)]
    return _read(value, 0, names)


def _read(held: bytes, at: int, names: list[str]) -> Any:
    basic, info = held[at] & 0b11, held[at] >> 2
    at += 1
    match basic:
        case 0:
            return _primitive(held, at, info)
        case 1:
            return held[at : at + info].decode()
        case 2:
            count, ids, offsets, first = _parts(held, at, info >> 4, (info & 3) + 1, info >> 2 & 3)
            found = {names[each]: place for each, place in zip(ids, offsets, strict=False)}
            assert list(found) == sorted(found, key=lambda name: name.encode("utf-16-be"))
            assert len(found) == count
            return {name: _read(held, first + place, names) for name, place in found.items()}
    _, _, offsets, first = _parts(held, at, info >> 2, (info & 3) + 1, None)
    return [_read(held, first + place, names) for place in offsets[:-1]]


def _parts(
    held: bytes, at: int, large: int, size: int, ids: int | None
) -> tuple[int, list[int], list[int], int]:
    """How many there are, the places of their names, their offsets, and where the first begins."""
    count = _whole(held, at, 4 if large else 1)
    at += 4 if large else 1
    found: list[int] = []
    if ids is not None:
        found = [_whole(held, at + n * (ids + 1), ids + 1) for n in range(count)]
        at += count * (ids + 1)
    offsets = [_whole(held, at + n * size, size) for n in range(count + 1)]
    return count, found, offsets, at + (count + 1) * size


def _primitive(held: bytes, at: int, kind: int) -> Any:
    if kind in _WHOLE:
        return int.from_bytes(held[at : at + _WHOLE[kind]], "little", signed=True)
    if kind in _DECIMALS:
        end = at + 1 + _DECIMALS[kind]
        number = int.from_bytes(held[at + 1 : end], "little", signed=True)
        digits = tuple(map(int, str(abs(number))))
        return Decimal((int(number < 0), digits, -held[at]))
    if kind == 7:
        return struct.unpack_from("<d", held, at)[0]
    if kind == 16:
        length = _whole(held, at, 4)
        return held[at + 4 : at + 4 + length].decode()
    return {0: None, 1: True, 2: False}[kind]


def _whole(held: bytes, at: int, size: int) -> int:
    return int.from_bytes(held[at : at + size], "little")
