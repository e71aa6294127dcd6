"""A second opinion on Avro records, by fastavro: it shares no code with the product.

    decode(b"\\x02", "\\"long\\"")  ->  {"value": 1}

Values come back as Spark would collect them: naive UTC datetimes, bytes, list, and dict for STRUCT
and MAP alike. fastavro reads the plain types, held to the specification; the others are told here.
"""

from __future__ import annotations

import io
import json
import struct
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

import fastavro

from tests.decoding.reference_json import Undecodable
from tests.decoding.strict_fastavro import Whole, read_strictly

_EPOCH = datetime(1970, 1, 1)
_BEYOND_FLOAT = 2.0**127  # not finite, and no whole number of an Avro writer
_EXACT = Context(prec=10_000)
_PRIMITIVES = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}


class Misfit(Exception):
    pass


def decode(
    body: bytes,
    reader: str,
    writer: str | None = None,
    references: Sequence[str] = (),
) -> dict[str, Any] | Undecodable:
    """The columns of one record without a frame, or why there are none."""
    try:
        return _columns(body, reader, writer or reader, references)
    except Misfit as problem:
        return Undecodable(str(problem))


def decoder(
    reader: str, writers: Mapping[str, str], references: Sequence[str] = ()
) -> Callable[[bytes], dict[str, Any] | None]:
    """Of records with a frame before them, in the form that the oracle wants."""

    def of_framed(value: bytes) -> dict[str, Any] | None:
        if len(value) < 5 or value[0] != 0:
            return None
        writer = writers.get(str(int.from_bytes(value[1:5], "big")))
        found = writer and decode(value[5:], reader, writer, references)
        return found if isinstance(found, dict) else None

    return of_framed


def _columns(body: bytes, reader: str, writer: str, references: Sequence[str]) -> dict[str, Any]:
    ours, names = _whole(reader, references)
    theirs, _ = _whole(writer, references)
    stream = io.BytesIO(body)
    try:
        found = read_strictly(stream, _plain(theirs), _plain(ours))
    except Exception as problem:
        raise Misfit(f"{type(problem).__name__}: {problem}") from None
    if stream.tell() != len(body):
        raise Misfit("more after the datum")
    value = _typed(found, ours, names)
    record = isinstance(_named(ours, names), dict) and _named(ours, names)["type"] == "record"
    return value if record else {"value": value}


def _whole(text: str, references: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    """The schema with what it refers to, and its named types."""
    names: dict[str, Any] = {}
    for each in references:
        fastavro.parse_schema(json.loads(each), named_schemas=names)
    parsed = fastavro.parse_schema(json.loads(text), named_schemas=names)
    return _inlined(parsed, names, set()), names


def _inlined(schema: Any, names: Mapping[str, Any], seen: set[str]) -> Any:
    """With each named type defined where it is used first."""
    if isinstance(schema, list):
        return [_inlined(each, names, seen) for each in schema]
    if isinstance(schema, str):
        if schema not in names or schema in seen:
            return schema
        schema = names[schema]
    seen.add(str(schema.get("name")))
    kinds = {
        key: _inlined(schema[key], names, seen) for key in ("items", "values") if key in schema
    }
    if not isinstance(schema["type"], str):
        kinds["type"] = _inlined(schema["type"], names, seen)
    if "fields" in schema:
        kinds["fields"] = [
            {**each, "type": _inlined(each["type"], names, seen)} for each in schema["fields"]
        ]
    return {**schema, **kinds}


def _named(schema: Any, names: Mapping[str, Any]) -> Any:
    while isinstance(schema, dict) and isinstance(schema["type"], dict | list):
        schema = schema["type"]
    return names.get(schema, schema) if isinstance(schema, str) else schema


def _plain(schema: Any) -> Any:
    """Without logical types."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if isinstance(schema, dict):
        left = ("logicalType", "precision", "scale", "__fastavro_parsed__", "__named_schemas")
        return {
            key: each if key in ("default", "aliases", "symbols") else _plain(each)
            for key, each in schema.items()
            if key not in left
        }
    return schema


def _typed(value: Any, schema: Any, names: Mapping[str, Any]) -> Any:
    found = _named(schema, names)
    value = int(value) if isinstance(value, Whole) else value
    if isinstance(found, list):
        return _of_union(value, found, names)
    if isinstance(found, str):
        return _single(value) if found == "float" else value
    match found["type"]:
        case "record" | "error":
            return {x["name"]: _typed(value[x["name"]], x["type"], names) for x in found["fields"]}
        case "array":
            return [_typed(each, found["items"], names) for each in value]
        case "map":
            return {key: _typed(each, found["values"], names) for key, each in value.items()}
        case "enum":
            return value
        case _:
            return _logical(value, found)


def _single(value: float) -> float:
    """A value of a float, which no whole number was rounded to."""
    if abs(value) < _BEYOND_FLOAT and struct.unpack("<f", struct.pack("<f", value))[0] != value:
        raise Misfit(f"{value} is no float")
    return value


def _of_union(value: Any, members: list[Any], names: Mapping[str, Any]) -> Any:
    others = [each for each in members if each != "null"]
    if value is None:
        return None
    if len(others) == 1:
        return _typed(value, others[0], names)
    kinds = [_kind(each, names) for each in others]
    if set(kinds) in ({"int", "long"}, {"float", "double"}):
        return value
    place = next(n for n, kind in enumerate(kinds) if _is_of(value, kind))
    return {
        f"member{n}": _typed(value, each, names) if n == place else None
        for n, each in enumerate(others)
    }


def _kind(schema: Any, names: Mapping[str, Any]) -> str:
    found = _named(schema, names)
    return found if isinstance(found, str) else found["type"]


def _is_of(value: Any, kind: str) -> bool:
    expected = {
        "boolean": bool,
        "int": int,
        "long": int,
        "float": float,
        "double": float,
        "bytes": bytes,
        "fixed": bytes,
        "array": list,
        "map": dict,
        "record": dict,
    }.get(kind, str)
    return type(value) is expected


def _logical(value: Any, schema: dict[str, Any]) -> Any:
    try:
        match schema.get("logicalType"), schema["type"]:
            case "decimal", ("bytes" | "fixed"):
                return _decimal(value, schema)
            case "date", "int":
                return date(1970, 1, 1) + timedelta(days=value)
            case "uuid", "fixed":
                return str(uuid.UUID(bytes=value))
            case "duration", "fixed":
                parts = [int.from_bytes(value[n : n + 4], "little") for n in (0, 4, 8)]
                return dict(zip(("months", "days", "milliseconds"), parts, strict=True))
            case "time-millis", "int":
                return _time_of_day(value * 1000)
            case "time-micros", "long":
                return _time_of_day(value)
            case str(name), "long" if name.endswith(("-millis", "-micros", "-nanos")):
                unit = name.rpartition("-")[2]
                micros = {"millis": value * 1000, "micros": value, "nanos": value // 1000}[unit]
                return _EPOCH + timedelta(microseconds=micros)
    except (OverflowError, ValueError) as problem:
        raise Misfit(str(problem)) from None
    return value


def _time_of_day(micros: int) -> str:
    if not 0 <= micros < 86_400_000_000:
        raise Misfit("no time of day")
    return (_EPOCH + timedelta(microseconds=micros)).time().isoformat()


def _decimal(value: bytes, schema: dict[str, Any]) -> Decimal:
    if not value:
        raise Misfit("no bytes")
    number = int.from_bytes(value, "big", signed=True)
    if len(str(abs(number))) > schema["precision"]:
        raise Misfit("too many digits")
    return _EXACT.scaleb(Decimal(number), -schema.get("scale", 0))
