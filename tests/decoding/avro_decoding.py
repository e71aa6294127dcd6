"""Runs the product's Avro decoding over many values in one Spark job, for tests to look at."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import fastavro
from pyspark.sql import SparkSession
from sluice.lake.decoding.avro import AvroRecords
from sluice.spec.registered import Reference, RegisteredSchema

from tests.decoding.decoding import NONCE, outcome
from tests.decoding.reference_json import Undecodable

RECORDS = "place INT, value BINARY, key BINARY, headers ARRAY<STRUCT<key STRING, value BINARY>>"


def schema(text: Any, key: str = "1", references: Sequence[str] = ()) -> RegisteredSchema:
    """A registered schema of a text, or of what JSON makes of a text."""
    found = text if isinstance(text, str) and text.startswith(("{", "[", '"')) else json.dumps(text)
    named = tuple(Reference(str(n), each) for n, each in enumerate(references))
    return RegisteredSchema(key, "AVRO", found, named)


def logical(carrier: Any, name: str, **more: Any) -> dict[str, Any]:
    head = carrier if isinstance(carrier, dict) else {"type": carrier}
    return {**head, "logicalType": name, **more}


def record(fields: dict[str, Any], name: str = "a.Order", **defaults: Any) -> dict[str, Any]:
    made = [
        {"name": key, "type": each, **({"default": defaults[key]} if key in defaults else {})}
        for key, each in fields.items()
    ]
    return {"type": "record", "name": name, "fields": made}


def fixed(name: str, size: int) -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": size}


def encoded(text: Any, value: Any) -> bytes:
    """The value as fastavro writes it."""
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(text), value)
    return stream.getvalue()


def framed(key: int, body: bytes) -> bytes:
    return b"\0" + key.to_bytes(4, "big") + body


def decoded_avro(
    spark: SparkSession,
    reader: RegisteredSchema,
    values: Sequence[bytes | None],
    writers: Mapping[str, RegisteredSchema] | None = None,
    headers: Sequence[list[tuple[str, bytes | None]] | None] | None = None,
    rescue: bool = False,
) -> list[dict[str, Any] | Undecodable]:
    """What the product makes of each value, in the terms of the reference decoder."""
    beside = headers or [None] * len(values)
    rows = [
        (place, None if each is None else bytearray(each), None, named)
        for place, (each, named) in enumerate(zip(values, beside, strict=True))
    ]
    records = spark.createDataFrame(rows, RECORDS)
    frame = AvroRecords(reader, writers, "value", NONCE, rescue).decode(records, "d")
    fields = frame.schema["d"].dataType
    found = {row["place"]: row["d"] for row in frame.select("place", "d").toArrow().to_pylist()}
    return [outcome(found[place], fields) for place in range(len(values))]
