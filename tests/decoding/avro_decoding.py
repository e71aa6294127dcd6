"""Runs the product's Avro decoding over many values in one Spark job, for tests to look at."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple

import fastavro
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from sluice.lake.decoding.avro_records import avro_struct
from sluice.lake.decoding.column_types import struct_type
from sluice.schemas.avro.columns import avro_declared
from sluice.schemas.registered import Reference, RegisteredSchema

from tests.decoding.decoding import Outcome, outcome, outcomes, side_by_side
from tests.decoding.reference_json import Undecodable

HEADERS = "ARRAY<STRUCT<key: STRING, value: BINARY>>"
RECORDS = f"place INT, value BINARY, key BINARY, headers {HEADERS}"


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


def fields_of(reader: RegisteredSchema) -> T.StructType:
    return struct_type(avro_declared(reader).columns)


class AvroTable(NamedTuple):
    """Values, the schema that they are read as, and those that they were written with."""

    reader: RegisteredSchema
    values: Sequence[bytes | None]
    writers: Mapping[str, RegisteredSchema] | None = None
    rescue: bool = False

    def decode(self, records: DataFrame, number: int) -> DataFrame:
        """With what becomes of this table's values, as the product decodes them."""
        given = records.withColumn("value", F.col(f"v{number}"))
        read = avro_struct(self.reader, fields_of(self.reader), self.writers, "value", self.rescue)
        return given.withColumn(f"d{number}", read)


def decoded_avro_tables(spark: SparkSession, tables: Sequence[AvroTable]) -> list[list[Outcome]]:
    """What the product makes of each value, in one Spark job: a column for each table."""
    values = [each.values for each in tables]
    frame = side_by_side(spark, values).withColumn("headers", F.lit(None).cast(HEADERS))
    for number, table in enumerate(tables):
        frame = table.decode(frame, number)
    return outcomes(frame, values)


Judged = Generator[AvroTable, list[Outcome], None]
"""A test that yields what is to be decoded, and is sent what became of it."""


class AvroTogether:
    """Tests whose values are decoded in one Spark job."""

    def __init__(self) -> None:
        self._clauses: list[Callable[[], Judged]] = []
        self._found: list[list[Outcome]] = []

    def clause(self, says: Callable[[], Judged]) -> Callable[[SparkSession], None]:
        number = len(self._clauses)
        self._clauses.append(says)

        def judge(spark: SparkSession) -> None:
            tables = [next(each()) for each in self._clauses]
            self._found = self._found or decoded_avro_tables(spark, tables)
            judged = says()
            next(judged)
            with pytest.raises(StopIteration):
                judged.send(self._found[number])

        judge.__name__, judge.__doc__ = says.__name__, says.__doc__
        return judge


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
    frame = records.withColumn(
        "d", avro_struct(reader, fields_of(reader), writers, "value", rescue)
    )
    fields = frame.schema["d"].dataType
    found = {row["place"]: row["d"] for row in frame.select("place", "d").toArrow().to_pylist()}
    return [outcome(found[place], fields) for place in range(len(values))]
