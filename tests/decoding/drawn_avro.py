"""Random data of an Avro schema, each as fastavro writes it, and as JSON is to tell it."""

from __future__ import annotations

import base64
import math
import random
import struct
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from typing import Any, NamedTuple

_EXACT = Context(prec=200)
_DEEPEST = 3


class Drawn(NamedTuple):
    """A datum for fastavro, without logical types; and what JSON has for it."""

    written: Any
    told: Any


def same(found: Any, told: Any) -> bool:
    """Whether JSON that was read is what is to be told.

    Numbers of JSON are Decimal or int; those that JSON has not are text.
    """
    match told:
        case dict():
            return found.keys() == told.keys() and all(same(found[k], told[k]) for k in told)
        case list():
            return len(found) == len(told) and all(map(same, found, told))
        case bool() | str() | None:
            return type(found) is type(told) and bool(found == told)
        case float() if math.isnan(told) or math.isinf(told):
            names = {math.inf: "Infinity", -math.inf: "-Infinity"}
            return bool(found == names.get(told, "NaN"))
        case float():
            return float(found) == told
    return bool(Decimal(found) == told)


class Drawing:
    """Data of schemas whose named types are all defined in one of them."""

    def __init__(self, schema: Any, drawn: random.Random) -> None:
        self._names: dict[str, Any] = {}
        self._note(schema)
        self._drawn, self._depth = drawn, 0

    def _note(self, schema: Any) -> None:
        if isinstance(schema, list):
            for each in schema:
                self._note(each)
        elif isinstance(schema, dict):
            if "name" in schema:
                self._names[schema["name"]] = schema
            for key in ("items", "values", "type"):
                self._note(schema.get(key))
            for each in schema.get("fields", []):
                self._note(each["type"])

    def datum(self, schema: Any) -> Drawn:
        found = self._names.get(schema, schema) if isinstance(schema, str) else schema
        if isinstance(found, list):
            return self._of_union(found)
        kind = found if isinstance(found, str) else found["type"]
        if kind in _SCALARS:
            return self._of_scalar(kind, found)
        match kind:
            case "record":
                return self._of_record(found)
            case "array":
                made = [self.datum(found["items"]) for _ in range(self._count())]
                return Drawn([each.written for each in made], [each.told for each in made])
            case "map":
                named = {self._text(): self.datum(found["values"]) for _ in range(self._count())}
                written = {name: each.written for name, each in named.items()}
                return Drawn(written, {name: each.told for name, each in named.items()})
            case "enum":
                symbol = self._drawn.choice(found["symbols"])
                return Drawn(symbol, symbol)
        size = found["size"] if kind == "fixed" else self._drawn.randrange(1, 40)
        return self._of_bytes(self._drawn.randbytes(size), found)

    def _of_record(self, found: Mapping[str, Any]) -> Drawn:
        self._depth += 1
        made = {each["name"]: self.datum(each["type"]) for each in found["fields"]}
        self._depth -= 1
        written = {name: each.written for name, each in made.items()}
        return Drawn(written, {name: each.told for name, each in made.items()})

    def _of_union(self, members: list[Any]) -> Drawn:
        deep = self._depth > _DEEPEST and "null" in members
        member = "null" if deep else self._drawn.choice(members)
        if member == "null":
            return Drawn(None, None)
        found = self._names.get(member, member) if isinstance(member, str) else member
        named = found if isinstance(found, str) else found.get("name", found["type"])
        made = self.datum(member)
        others = [each for each in members if each != "null"]
        kinds = {each for each in others if isinstance(each, str)}
        if len(others) == 1 or kinds in ({"int", "long"}, {"float", "double"}):
            return Drawn((named, made.written), made.told)
        told = {f"member{n}": made.told if x == member else None for n, x in enumerate(others)}
        return Drawn((named, made.written), told)

    def _of_scalar(self, kind: str, found: Any) -> Drawn:
        value = _SCALARS[kind](self._drawn)
        return Drawn(value, value)

    def _of_bytes(self, data: bytes, found: Any) -> Drawn:
        if isinstance(found, dict) and found.get("logicalType") == "decimal":
            number = Decimal(int.from_bytes(data, "big", signed=True))
            return Drawn(data, _EXACT.scaleb(number, -found.get("scale", 0)))
        return Drawn(data, base64.b64encode(data).decode())

    def _count(self) -> int:
        return 0 if self._depth > _DEEPEST else self._drawn.randrange(3)

    def _text(self) -> str:
        return _text(self._drawn)


def _text(drawn: random.Random) -> str:
    return "".join(drawn.choices('ab"\\\n\0é/𝄞\u2028', k=drawn.randrange(5)))


def _double(drawn: random.Random) -> float:
    return float(struct.unpack("<d", drawn.randbytes(8))[0])


def _float(drawn: random.Random) -> float:
    return drawn.choice([0.25, -7.5, float("nan"), float("inf"), float("-inf"), 2.0**20])


_SCALARS: Mapping[str, Callable[[random.Random], Any]] = {
    "null": lambda drawn: None,
    "boolean": lambda drawn: drawn.random() < 0.5,
    "int": lambda drawn: drawn.randrange(-(2**31), 2**31),
    "long": lambda drawn: drawn.randrange(-(2**63), 2**63),
    "float": _float,
    "double": _double,
    "string": _text,
}
