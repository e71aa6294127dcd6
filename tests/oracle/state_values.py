"""Values of rows as the state table compares them: equal ones are one value, ordered ones sort."""

from __future__ import annotations

import hashlib
import json
import math
import struct
import uuid
from functools import cache
from typing import Any

Value = Any


def plain(value: Value) -> Value:
    """The same for all values that are equal, to be compared and to be a key of a dict.

    NaN is one object, as Python finds an object in a tuple or a dict by its identity first.
    """
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    if isinstance(value, dict):
        return tuple((name, plain(each)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return tuple(plain(each) for each in value)
    return value


def equal(one: Value, other: Value) -> bool:
    """As keys are: a zero is a zero, whatever its sign."""
    return (plain(one),) == (plain(other),)


def unchanged(one: Value, other: Value) -> bool:
    """As copies are: of one column, written alike to the sign of a zero, also inside others."""
    return repr(one) == repr(other)


def rank(value: Value) -> tuple[Any, ...]:
    """Sorts as Spark does: null is the smallest value, NaN the greatest, also inside others."""
    if value is None:
        return (0,)
    if isinstance(value, float) and math.isnan(value):
        return (2,)
    if isinstance(value, dict):
        return 1, tuple(rank(each) for each in value.values())
    if isinstance(value, list | tuple):
        return 1, tuple(rank(each) for each in value)
    return 1, value


def stands_for_missing(value: Value, placeholder: str) -> bool:
    """Whether it is the placeholder."""
    return value in _ways_of(placeholder)


@cache
def _ways_of(placeholder: str) -> list[Any]:
    """The placeholder in each of the ways that Debezium's PostgreSQL connector has.

    Those are the text, or its bytes in UTF-8; a list of one of these alone, or of the bytes as
    Java's signed numbers; a map of the text to itself, also as JSON; a list of the UUID that is
    made of the bytes.
    """
    data, quoted = placeholder.encode(), json.dumps(placeholder, ensure_ascii=False)
    digest = bytearray(hashlib.md5(data).digest())
    digest[6], digest[8] = digest[6] & 0x0F | 0x30, digest[8] & 0x3F | 0x80
    scalars: list[Any] = [placeholder, data, f"{{{quoted}:{quoted}}}"]
    lists: list[Any] = [[placeholder], [data], [*struct.unpack(f"{len(data)}b", data)]]
    maps: list[Any] = [{placeholder: placeholder}, [(placeholder, placeholder)]]
    return [*scalars, *lists, *maps, [str(uuid.UUID(bytes=bytes(digest)))]]
