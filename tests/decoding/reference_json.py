"""A second opinion on JSON records: the decoding contract in plain Python, sharing no code with it.

    decode(b'{"n": 1}', "n INT, s STRING")   ->  {"n": 1, "s": None}
    decode(b'{"n": 1.5}', "n INT, s STRING") ->  Undecodable("n: not an integer")

Values come back as Spark would collect them: int, float (FLOAT rounded to single precision), bool,
str, Decimal, date, naive UTC datetime, bytes, list, Variant, and dict for STRUCT and MAP alike.
STRING takes a JSON string, or else the JSON text of the value: numbers as they were written, no
white space, names and strings escaped as Jackson does (see reference_json_text).
"""

from __future__ import annotations

import base64
import re
import struct
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

from tests.decoding.reference_ddl import Type, schema
from tests.decoding.reference_json_text import (
    Members,
    Misfit,
    Number,
    json_text,
    one_object,
    one_value,
    quoted,
)
from tests.decoding.reference_variant import Variant

_EXACT = Context(prec=1_000_000, Emax=10**17, Emin=-(10**17))


@dataclass(frozen=True)
class Undecodable:
    reason: str


def decode(
    value: bytes | None,
    ddl: str,
    *,
    timestamp_unit: str | None = None,
    allow_unmatched: bool = False,
) -> dict[str, Any] | Undecodable:
    """The declared fields of one record, or why there are none."""
    fields = schema(ddl)
    if value is None:
        return dict.fromkeys(fields)
    try:
        if ddl == "value VARIANT":
            return {"value": Variant.of(one_value(bytes(value)))}
        members = _members(bytes(value), fields)
        if not allow_unmatched and not members.keys() & fields.keys():
            return Undecodable(_unmatched(list(fields), list(members)))
        return {
            name: _field(name, members.get(name), kind, timestamp_unit)
            for name, kind in fields.items()
        }
    except Misfit as misfit:
        return Undecodable(str(misfit))


def _members(value: bytes, fields: dict[str, Type]) -> dict[str, Any]:
    """The record's own; an array is the only column, where that is named `value` and is one."""
    if [*fields] == ["value"] and fields["value"].name == "ARRAY":
        found = one_value(value)
        if type(found) is list:
            return {"value": found}
    return one_object(value).last()


def _unmatched(fields: list[str], members: list[str]) -> str:
    found = _listed(members) if members else "an object without fields"
    return f"expected one of the declared fields ({_listed(fields)}), found {found}"


def _listed(names: list[str]) -> str:
    plain = [quoted(each)[1:-1] if min(each, default="~") < " " else each for each in names]
    shown = [each if len(each) <= 100 else each[:100] + "\N{HORIZONTAL ELLIPSIS}" for each in plain]
    return ", ".join(shown[:5]) + (", \N{HORIZONTAL ELLIPSIS}" if len(names) > 5 else "")


def _field(name: str, value: Any, kind: Type, unit: str | None) -> Any:
    try:
        return _typed(value, kind, unit)
    except Misfit as misfit:
        raise Misfit(f"{name}: {misfit}") from None


_INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}


def _typed(value: Any, kind: Type, unit: str | None) -> Any:
    if value is None:
        return None
    if kind.name == "VARIANT":
        return Variant.of(value)
    if kind.name == "STRING":
        return value if type(value) is str else json_text(value)
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
    raise Misfit(f"not a {kind.name}")


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
    raise Misfit(f"not a {kind.name}")


def _number(text: Number, kind: Type) -> Any:
    if kind.name in _INTEGERS:
        return _integer(text, _INTEGERS[kind.name])
    if kind.name in ("DOUBLE", "FLOAT"):
        return _finite(text, kind.name)
    if kind.name == "DECIMAL":
        precision, scale = (*kind.numbers, *(10, 0)[len(kind.numbers) :])
        return _decimal(text, precision, scale)
    raise Misfit(f"not a {kind.name}")


def _integer(text: Number, bits: int) -> int:
    if not re.fullmatch(r"-?[0-9]{1,20}", text):
        raise Misfit("not an integer")
    number = int(text)
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise Misfit("out of range")
    return number


def _finite(text: Number, name: str) -> float:
    number = float(text) if name == "DOUBLE" else _nearest_single(text)
    if abs(number) == float("inf"):
        raise Misfit("not finite")
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
        raise Misfit("not exact")
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


_EPOCH = datetime(1970, 1, 1)


def _date(text: str) -> date:
    match = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", text)
    try:
        if match is not None:
            return date(*map(int, match.groups()))
    except ValueError:
        pass
    raise Misfit("not a DATE")


def _timestamp(text: str) -> datetime:
    match = re.fullmatch(
        r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})"
        r"(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})?",
        text,
    )
    if match is None:
        raise Misfit("not a TIMESTAMP")
    *parts, fraction, zone = match.groups()
    try:
        year, month, day, hour, minute, second = map(int, parts)
        micros = int((fraction or "")[:6].ljust(6, "0"))
        there = datetime(year, month, day, hour, minute, second, micros, _zone(zone))
        return there.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise Misfit("not a TIMESTAMP") from None


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
        raise Misfit("not a TIMESTAMP")
    number = int(digits) * (-1 if sign else 1)
    # A number between two microseconds is the earlier: `//` floors.
    micros = number * 10**exponent if exponent >= 0 else number // 10 ** min(-exponent, len(digits))
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        raise Misfit("not a TIMESTAMP") from None


def _binary(text: str) -> bytes:
    if not re.fullmatch(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", text):
        raise Misfit("not base64")
    return base64.b64decode(text)
