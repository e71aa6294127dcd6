"""Decodes values with what is around them, as a spec says it, for tests to look at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import DECODED, decoder
from sluice.lake.decoding.decoded_fields import ERROR
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import (
    AvroFormat,
    JsonFormat,
    ProtobufFormat,
    Source,
)
from sluice.spec_file.key_formats import KeyFormat

from tests.decoding.avro_decoding import encoded
from tests.worlds.protobuf_schemas import descriptor_set, message_class

USER: dict[str, Any] = {
    "type": "record",
    "name": "user",
    "namespace": "demo",
    "doc": "what a fingerprint does not count",
    "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}],
}
ROW = {"id": 7, "name": "Köln " * 20}
PROTO = """
syntax = "proto3"; package demo;
message Account { message Zone { int32 i = 1; } map<string, int32> m = 1; }
message User { int64 id = 1; string name = 2; }
"""
User = message_class(PROTO, "demo.User")
PAYLOADS = {
    "json": json.dumps(ROW).encode(),
    "avro": encoded(USER, ROW),
    "protobuf": User(**ROW).SerializeToString(),
}
Schemas = JsonFormat | AvroFormat | ProtobufFormat
TYPES: dict[str, tuple[type[Schemas], dict[str, Any]]] = {
    "json": (JsonFormat, {"schema": "id BIGINT, name STRING"}),
    "avro": (AvroFormat, {"schema_file": "user.avsc"}),
    "protobuf": (ProtobufFormat, {"schema_file": "user.desc", "record": "demo.User"}),
}
FILES = {
    "user.avsc": json.dumps(USER).encode(),
    "user.desc": descriptor_set({"main.proto": PROTO}),
}
LIMIT = "expected at most 67,108,864 bytes, found more"


def form(kind: str, **keys: Any) -> Schemas:
    model, needed = TYPES[kind]
    return model.model_validate({"type": kind, **needed, **keys}, context={"files": FILES})


def decoded(
    spark: SparkSession,
    of: KeyFormat,
    values: Sequence[bytes | None],
    source: Source = "value",
    rescue: bool = False,
    **writers: RegisteredSchema,
) -> list[Any]:
    """Of each value the columns, or the error; and that the record keeps its own bytes."""
    rows = [(n, None if each is None else bytearray(each), None) for n, each in enumerate(values)]
    kept = f"place INT, {source} BINARY, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
    records = spark.createDataFrame(rows, kept)
    known = {each.key: each for each in writers.values()}
    frame = decoder(of, source, known, rescue)(records)
    assert frame.columns == [*records.columns, DECODED[source]]
    found = []
    for row in sorted(frame.toArrow().to_pylist(), key=lambda row: row["place"]):
        assert row[source] == values[row["place"]]
        fields = row[DECODED[source]]
        if fields is not None:
            error = fields.pop(ERROR)
            assert error is None or set(fields.values()) == {None}
            fields = fields if error is None else error
        found.append(fields)
    return found
