"""Avro values: a record's bytes as JSON has them, by the schema that they were written with. Pure.

For people to look at, without a JVM. They are in the form of rescued fields: bytes in base64, dates
and times as the numbers that they are, a union of several types as an object. What decodes records
into columns is in jobs/jvm/avro.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal
from typing import Any

from sluice.offsets.quantities import format_count
from sluice.schemas.avro.columns import union_of
from sluice.schemas.avro.schema import (
    ArrayOf,
    AvroSchema,
    Enum,
    Fixed,
    Logical,
    MapOf,
    Node,
    RecordType,
    Scalar,
    Union,
)
from sluice.schemas.values import Written

# Python itself goes no deeper than some hundred calls.
_DEEPEST = 100
# Values without a byte, such as null, could be any number.
_MOST_EMPTY = 10_000
_MOST_DIGIT_BYTES = 4096
_NUMBERS = {"float": "<f", "double": "<d"}


class AvroValues:
    """The values of one schema; `name` is that of its records."""

    def __init__(self, schema: AvroSchema, name: str) -> None:
        self._schema, self._name = schema, name

    def record(self, found: Written) -> str:
        """The name of the outermost type; empty where it has none."""
        return self._name

    def value(self, found: Written) -> Any:
        """The one value that the bytes are. Raises ValueError."""
        return avro_value(self._schema, found.body)


def avro_value(schema: AvroSchema, content: bytes) -> Any:
    """The one value that the bytes are. Raises ValueError for others, with the place in them."""
    reading = _Reading(schema, content)
    found = reading.value(schema.root)
    if reading.left:
        raise ValueError(f"expected the end at byte {reading.at}, found {reading.left:,} more")
    return found


class _Reading:
    """How far the bytes are read."""

    def __init__(self, schema: AvroSchema, content: bytes) -> None:
        self._schema, self._content = schema, content
        self.at = self._depth = 0

    @property
    def left(self) -> int:
        """How many bytes are not read yet."""
        return len(self._content) - self.at

    def value(self, node: Node) -> Any:
        match found := self._schema.named(node):
            case Scalar(name, logical):
                return self._scalar(name, logical)
            case Fixed(size=size, logical=logical):
                return _told(self._bytes(size), logical)
            case Enum(symbols=symbols):
                return symbols[self._place(len(symbols), "symbol")]
            case RecordType():
                return self._nested(lambda: {e.name: self.value(e.type) for e in found.fields})
            case ArrayOf(items):
                return self._nested(lambda: [self.value(items) for _ in self._members()])
            case MapOf(values):
                return self._nested(
                    lambda: {self._text(): self.value(values) for _ in self._members()}
                )
            case Union(members):
                return self._of_union(members)
        raise AssertionError(found)

    def _nested(self, read: Callable[[], Any]) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError(f"expected at most {_DEEPEST} levels, found more at byte {self.at}")
        found = read()
        self._depth -= 1
        return found

    def _scalar(self, name: str, logical: Logical | None) -> Any:
        match name:
            case "null":
                return None
            case "boolean":
                return bool(self._bytes(1)[0])
            case "int" | "long":
                return self._number()
            case "float" | "double":
                form = _NUMBERS[name]
                (found,) = struct.unpack(form, self._bytes(struct.calcsize(form)))
                return found if math.isfinite(found) else _not_finite(found)
            case "string":
                return self._text()
        return _told(self._bytes(self._number()), logical)

    def _of_union(self, members: Sequence[Node]) -> Any:
        place = self._place(len(members), "type")
        found = self.value(members[place])
        others = [n for n, each in enumerate(members) if each != Scalar("null")]
        if place not in others or len(union_of(members)) == 1:
            return found
        return {f"member{n}": found if each == place else None for n, each in enumerate(others)}

    def _members(self) -> Iterator[None]:
        """As often as an array or a map has a member; each block says how many follow."""
        empty = 0
        while count := self._number():
            if count < 0:
                self._number()
            for _ in range(abs(count)):
                before = self.at
                yield
                empty += self.at == before
                if empty > _MOST_EMPTY:
                    raise ValueError(f"more than {_MOST_EMPTY:,} members without a byte")

    def _place(self, count: int, of: str) -> int:
        found = self._number()
        if not 0 <= found < count:
            raise ValueError(f"expected one of {count} {of}s at byte {self.at}, found {found}")
        return found

    def _number(self) -> int:
        found = shift = 0
        while True:
            byte = self._bytes(1)[0]
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift > 63:
                raise ValueError(f"expected a number of 64 bits, found more at byte {self.at}")
        return (found >> 1) ^ -(found & 1)

    def _text(self) -> str:
        start = self.at
        try:
            return self._bytes(self._number()).decode()
        except UnicodeDecodeError:
            raise ValueError(f"expected text in UTF-8 at byte {start}, found other bytes") from None

    def _bytes(self, count: int) -> bytes:
        if not 0 <= count <= self.left:
            raise ValueError(
                f"expected {format_count(count, 'byte')} at byte {self.at}, found {self.left:,} to"
                " the end"
            )
        self.at += count
        return self._content[self.at - count : self.at]


def _told(found: bytes, logical: Logical | None) -> str:
    """The digits of a decimal; any other bytes in base64."""
    if logical is None or logical.name != "decimal" or not 0 < len(found) <= _MOST_DIGIT_BYTES:
        return base64.b64encode(found).decode()
    number = Decimal(int.from_bytes(found, "big", signed=True))
    digits = Context(prec=3 * _MOST_DIGIT_BYTES).scaleb(number, -logical.scale)
    return f"{digits:f}"


def _not_finite(found: float) -> str:
    if math.isnan(found):
        return "NaN"
    return "Infinity" if found > 0 else "-Infinity"
