"""Placeholders: what stands for a value that did not change, by the type of its column. Pure.

As Debezium's connector for PostgreSQL writes them (its class UnchangedToastedPlaceholder): a text
as itself, alone in a list, or as its bytes, which in a list of numbers are one element each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from uuid import UUID

from sluice.columns.columns import Array, ColumnType, Decimal, Map, Primitive

Placeholder = str | bytes | list[str] | list[bytes] | list[int] | Mapping[str, str]


def placeholders(column: ColumnType, told: str) -> list[Placeholder]:
    """What stands for an unavailable value in a column of the type; nothing for most types."""
    match column:
        case Primitive("STRING"):
            # The other one: an hstore as JSON.
            return [told, json.dumps({told: told}, separators=(",", ":"), ensure_ascii=False)]
        case Primitive("BINARY"):
            return [told.encode()]
        case Array(Primitive("STRING")):
            return [[told], [_as_uuid(told)]]
        case Array(Primitive("BINARY")):
            return [[told.encode()]]
        case Array(
            Decimal() | Primitive("TINYINT" | "SMALLINT" | "INT" | "BIGINT" | "FLOAT" | "DOUBLE")
        ):
            return [_as_numbers(told)]
        case Map(Primitive("STRING")):
            return [{told: told}]
    return []


def _as_numbers(told: str) -> list[int]:
    """Java's bytes have a sign."""
    return [each - 256 if each > 127 else each for each in told.encode()]


def _as_uuid(told: str) -> str:
    """As Java makes one from bytes: version 3, without a namespace."""
    return str(UUID(bytes=hashlib.md5(told.encode(), usedforsecurity=False).digest(), version=3))
