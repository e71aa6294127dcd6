"""A second opinion on JSON records: the decoding contract in plain Python, sharing no code with it.

    decode(b'{"n": 1}', "n INT, s STRING")   ->  {"n": 1, "s": None}
    decode(b'{"n": 1.5}', "n INT, s STRING") ->  Undecodable("n: not a INT")

Values come back as Spark would collect them: int, float (FLOAT rounded to single precision), bool,
str, Decimal, date, naive UTC datetime, bytes, list, and dict for STRUCT and MAP alike.
STRING takes a JSON string, or else the JSON text of the value: numbers as they were written, no
white space, names and strings escaped as Jackson does (see _quoted).
"""

from __future__ import annotations

import base64
import json
import re
import struct
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Context, Decimal
from functools import cache
from typing import Any, NamedTuple

MAX_NESTING = 1_000
MAX_NAME = 50_000  # Jackson's own limit, in UTF-16 units
_EXACT = Context(prec=1_000_000, Emax=10**17, Emin=-(10**17))


@dataclass(frozen=True)
class Undecodable:
    reason: str


class Number(str):
    """A JSON number as it was written."""


class Members(NamedTuple):
    """A JSON object as it was written: repeated names are all there."""

    pairs: list[tuple[str, Any]]

    def last(self) -> dict[str, Any]:
        return dict(self.pairs)


class _Misfit(Exception):
    pass


def decode(
    value: bytes | None, ddl: str, *, timestamp_unit: str | None = None
) -> dict[str, Any] | Undecodable:
    """The declared fields of one record, or why there are none."""
    fields = schema(ddl)
    if value is None:
        return dict.fromkeys(fields)
    try:
        members = _one_object(bytes(value)).last()
        return {
            name: _field(name, members.get(name), kind, timestamp_unit)
            for name, kind in fields.items()
        }
    except _Misfit as misfit:
        return Undecodable(str(misfit))


def _field(name: str, value: Any, kind: Type, unit: str | None) -> Any:
    try:
        return _typed(value, kind, unit)
    except _Misfit as misfit:
        raise _Misfit(f"{name}: {misfit}") from None


# --- the text -------------------------------------------------------------------------------------


def _one_object(value: bytes) -> Members:
    try:
        text = value.decode("utf-8", errors="strict")
    except UnicodeDecodeError:
        raise _Misfit("not strict UTF-8") from None
    if _nesting(text) > MAX_NESTING:
        raise _Misfit("nested too deeply")
    try:
        parsed = _Parser(text).document()
    except (ValueError, IndexError):
        raise _Misfit("not one JSON object") from None
    if not isinstance(parsed, Members):
        raise _Misfit("not one JSON object")
    _refuse_lone_surrogates(parsed)
    return parsed


def _nesting(text: str) -> int:
    depth = deepest = 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', text, re.DOTALL):
        if token in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "}]":
            depth -= 1
    return deepest


class _Parser:
    """RFC 8259 without recursion; strings are read by the json module."""

    _SPACE = re.compile(r"[ \t\r\n]*")
    _NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.eE+\-])")
    _WORDS = ("true", True), ("false", False), ("null", None)

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> Any:
        value = self._value()
        if self._peek():
            raise ValueError("trailing content")
        return value

    def _peek(self) -> str:
        space = self._SPACE.match(self._text, self._at)
        assert space is not None
        self._at = space.end()
        return self._text[self._at : self._at + 1]

    def _take(self, expected: str) -> bool:
        if self._peek() != expected:
            return False
        self._at += 1
        return True

    def _need(self, expected: str) -> None:
        if not self._take(expected):
            raise ValueError(f"expected {expected} at {self._at}")

    def _string(self) -> str:
        if self._peek() != '"':
            raise ValueError(f"expected a string at {self._at}")
        text, self._at = json.decoder.scanstring(self._text, self._at + 1, True)
        return text

    def _name(self) -> str:
        name = self._string()
        if len(name.encode("utf-16-le", "surrogatepass")) // 2 > MAX_NAME:
            raise ValueError("name too long")
        self._need(":")
        return name

    def _scalar(self) -> Any:
        if self._peek() == '"':
            return self._string()
        for word, value in self._WORDS:
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return value
        number = self._NUMBER.match(self._text, self._at)
        if number is None:
            raise ValueError(f"no value at {self._at}")
        self._at = number.end()
        return Number(number.group())

    def _value(self) -> Any:
        open_ones: list[tuple[Any, str | None]] = []  # containers, and the name they wait under
        while True:
            value, opened = self._start()
            if opened:
                open_ones.append((value, self._name() if isinstance(value, Members) else None))
                continue
            while open_ones:
                container, name = open_ones.pop()
                if isinstance(container, Members):
                    container.pairs.append((name, value))
                else:
                    container.append(value)
                if self._take(","):
                    open_ones.append(
                        (container, self._name() if isinstance(container, Members) else None)
                    )
                    break
                self._need("}" if isinstance(container, Members) else "]")
                value = container
            else:
                return value

    def _start(self) -> tuple[Any, bool]:
        """A scalar or an empty container, done; or a container just opened."""
        if self._take("{"):
            return Members([]), not self._take("}")
        if self._take("["):
            return [], not self._take("]")
        return self._scalar(), False


def _refuse_lone_surrogates(value: Any) -> None:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Members):
            waiting.extend(part for pair in each.pairs for part in pair)
        elif isinstance(each, list):
            waiting.extend(each)
        elif isinstance(each, str) and re.search("[\ud800-\udfff]", each):
            raise _Misfit("a lone surrogate escape")


def _json_text(value: Any) -> str:
    """Without recursion, as a thousand levels would be too many for it."""
    out: list[str] = []
    waiting: list[Any] = [(value,)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and not isinstance(each, Number):
            out.append(each)
            continue
        out_or_parts = _parts(each[0]) if isinstance(each, tuple) else [str(each)]
        waiting.extend(reversed(out_or_parts))
    return "".join(out)


def _parts(value: Any) -> list[Any]:
    """Literal texts, and values still to be written (in 1-tuples)."""
    if isinstance(value, Number):
        return [str.__str__(value) + ""]
    if isinstance(value, Members):
        inner = [[_quoted(name) + ":", (each,)] for name, each in value.pairs]
        return ["{", *_joined(inner), "}"]
    if isinstance(value, list):
        return ["[", *_joined([[(each,)] for each in value]), "]"]
    if isinstance(value, str):
        return [_quoted(value)]
    return [{True: "true", False: "false", None: "null"}[value]]


def _joined(groups: list[list[Any]]) -> list[Any]:
    out: list[Any] = []
    for index, group in enumerate(groups):
        out += [",", *group] if index else group
    return out


def _quoted(text: str) -> str:
    """As Jackson writes it: control characters, and what is beyond the BMP, in capital escapes."""
    short = json.dumps(text, ensure_ascii=False)
    return re.sub(r"\\u00[0-9a-f]{2}|[\U00010000-\U0010ffff]", _capital_escape, short)


def _capital_escape(found: re.Match[str]) -> str:
    escape = found.group() if found.group()[0] == "\\" else json.dumps(found.group())[1:-1]
    return escape.upper().replace("\\U", "\\u")


# --- the types ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Type:
    name: str
    numbers: tuple[int, ...] = ()
    fields: tuple[tuple[str, Type], ...] = ()
    element: Type | None = None


@cache
def schema(ddl: str) -> dict[str, Type]:
    """The fields of a schema in Spark's DDL: `a INT, b ARRAY<STRUCT<c: STRING>>`."""
    return dict(_Ddl(ddl).fields(""))


class _Ddl:
    def __init__(self, text: str) -> None:
        self._tokens = re.findall(r"`[^`]+`|\w+|[<>(),:]", text)
        self._at = 0

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, token: str) -> bool:
        found = self._at < len(self._tokens) and self._tokens[self._at] == token
        self._at += found
        return found

    def fields(self, end: str) -> list[tuple[str, Type]]:
        fields = []
        while self._at < len(self._tokens) and not self._take(end):
            name = self._next().strip("`")
            self._take(":")
            fields.append((name, self._type()))
            self._take(",")
        return fields

    def _type(self) -> Type:
        name = {
            "INTEGER": "INT",
            "LONG": "BIGINT",
            "BYTE": "TINYINT",
            "SHORT": "SMALLINT",
            "REAL": "FLOAT",
        }.get(word := self._next().upper(), word)
        if name == "STRUCT":
            self._take("<")
            return Type(name, fields=tuple(self.fields(">")))
        if name in ("ARRAY", "MAP"):
            self._take("<")
            if name == "MAP":
                self._next(), self._take(",")
            element = self._type()
            self._take(">")
            return Type(name, element=element)
        numbers = []
        if self._take("("):
            while not self._take(")"):
                numbers.append(int(self._next()))
                self._take(",")
        return Type(name, tuple(numbers))


_INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}


def _typed(value: Any, kind: Type, unit: str | None) -> Any:
    if value is None:
        return None
    if kind.name == "STRING":
        return value if type(value) is str else _json_text(value)
    if kind.name in ("STRUCT", "MAP", "ARRAY"):
        return _nested(value, kind, unit)
    if kind.name == "BOOLEAN" and type(value) is bool:
        return value
    if kind.name == "TIMESTAMP" and isinstance(value, Number) and unit:
        return _timestamp_of_number(value, unit)
    if isinstance(value, Number):
        return _number(value, kind)
    if type(value) is str and kind.name in ("TIMESTAMP", "DATE", "BINARY"):
        return {"TIMESTAMP": _timestamp, "DATE": _date, "BINARY": _binary}[kind.name](value)
    raise _Misfit(f"not a {kind.name}")


def _nested(value: Any, kind: Type, unit: str | None) -> Any:
    if kind.name == "ARRAY" and type(value) is list:
        assert kind.element is not None
        return [_typed(each, kind.element, unit) for each in value]
    if kind.name == "MAP" and isinstance(value, Members):
        assert kind.element is not None
        return {name: _typed(each, kind.element, unit) for name, each in value.last().items()}
    if kind.name == "STRUCT" and isinstance(value, Members):
        members = value.last()
        return {name: _typed(members.get(name), each, unit) for name, each in kind.fields}
    raise _Misfit(f"not a {kind.name}")


def _number(text: Number, kind: Type) -> Any:
    if kind.name in _INTEGERS:
        return _integer(text, _INTEGERS[kind.name])
    if kind.name in ("DOUBLE", "FLOAT"):
        return _finite(text, kind.name)
    if kind.name == "DECIMAL":
        precision, scale = (*kind.numbers, *(10, 0)[len(kind.numbers) :])
        return _decimal(text, precision, scale)
    raise _Misfit(f"not a {kind.name}")


def _integer(text: Number, bits: int) -> int:
    if not re.fullmatch(r"-?[0-9]{1,20}", text):
        raise _Misfit("not an integer")
    number = int(text)
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise _Misfit("out of range")
    return number


def _finite(text: Number, name: str) -> float:
    number = float(text) if name == "DOUBLE" else _nearest_single(text)
    if abs(number) == float("inf"):
        raise _Misfit("not finite")
    return number


def _nearest_single(text: Number) -> float:
    """Rounded once, from the decimal text: by way of a double it could be rounded twice."""
    exact, near = _exact(text), float(text)
    if abs(near) == float("inf"):
        return near
    try:
        (single,) = struct.unpack("<f", struct.pack("<f", near))
    except OverflowError:
        return float("inf")
    (bits,) = struct.unpack("<i", struct.pack("<f", single))
    candidates = [single]
    for neighbour in (bits - 1, bits + 1):
        if -(2**31) <= neighbour < 2**31:
            (other,) = struct.unpack("<f", struct.pack("<i", neighbour))
            if abs(other) < float("inf"):
                candidates.append(other)
    best = min(abs(_EXACT.subtract(Decimal(each), exact)) for each in candidates)
    nearest = [e for e in candidates if abs(_EXACT.subtract(Decimal(e), exact)) == best]
    even = [e for e in nearest if struct.unpack("<i", struct.pack("<f", e))[0] % 2 == 0]
    return (even or nearest)[0]


def _exact(text: str) -> Decimal:
    return _EXACT.create_decimal(text)


def _decimal(text: Number, precision: int, scale: int) -> Decimal:
    sign, digits, exponent = _significand(text)
    if digits and (exponent < -scale or len(digits) + exponent > precision - scale):
        raise _Misfit("not exact")
    number = int(digits) * 10 ** (exponent + scale) if digits else 0
    return Decimal((sign, tuple(map(int, str(number))), -scale))


def _significand(text: str) -> tuple[int, str, int]:
    match = re.fullmatch(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?", text)
    assert match is not None
    sign, whole, fraction, power = match.groups(default="")
    digits = (whole + fraction).lstrip("0")
    stripped = digits.rstrip("0")
    far = power.lstrip("+-").lstrip("0")
    exponent = int(far or 0) if len(far) <= 12 else 10**12
    exponent = -exponent if power.startswith("-") else exponent
    return int(sign == "-"), stripped, exponent - len(fraction) + len(digits) - len(stripped)


# --- dates, times, bytes --------------------------------------------------------------------------

_EPOCH = datetime(1970, 1, 1)


def _date(text: str) -> date:
    match = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", text)
    try:
        if match is not None:
            return date(*map(int, match.groups()))
    except ValueError:
        pass
    raise _Misfit("not a DATE")


def _timestamp(text: str) -> datetime:
    match = re.fullmatch(
        r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})"
        r"(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})?",
        text,
    )
    if match is None:
        raise _Misfit("not a TIMESTAMP")
    *parts, fraction, zone = match.groups()
    try:
        there = datetime(*map(int, parts), int((fraction or "")[:6].ljust(6, "0")), _zone(zone))
        return there.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise _Misfit("not a TIMESTAMP") from None


def _zone(text: str | None) -> timezone:
    if text in (None, "Z", "z"):
        return UTC
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 23 or minutes > 59:
        raise ValueError(text)
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)


def _timestamp_of_number(text: Number, unit: str) -> datetime:
    sign, digits, exponent = _significand(text)
    exponent += {"s": 6, "ms": 3, "us": 0}[unit]
    if not digits:
        return _EPOCH
    if len(digits) + exponent > 18:
        raise _Misfit("not a TIMESTAMP")
    whole = (digits + "0" * exponent) if exponent >= 0 else digits[: max(len(digits) + exponent, 0)]
    try:
        return _EPOCH + timedelta(microseconds=int(whole or 0) * (-1 if sign else 1))
    except OverflowError:
        raise _Misfit("not a TIMESTAMP") from None


def _binary(text: str) -> bytes:
    if not re.fullmatch(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", text):
        raise _Misfit("not base64")
    return base64.b64decode(text)
