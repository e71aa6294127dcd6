"""Runs the product's JSON decoding over many values in one Spark job, for tests to look at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from sluice.lake.decoding.json_records import JsonRecords

from tests.decoding.reference_json import Undecodable

NONCE = "0123456789abcdefABCDEF"


def decoded_frame(
    spark: SparkSession,
    ddl: str,
    values: Sequence[bytes | None],
    unit: str | None = None,
) -> DataFrame:
    rows = [(i, None if each is None else bytearray(each)) for i, each in enumerate(values)]
    records = spark.createDataFrame(rows, "place INT, value BINARY")
    fields = T._parse_datatype_string(ddl)
    assert isinstance(fields, T.StructType)
    return JsonRecords(fields, F.col("value"), unit).decode(records, "d")


def decoded(
    spark: SparkSession,
    ddl: str,
    values: Sequence[bytes | None],
    unit: str | None = None,
) -> list[dict[str, Any] | Undecodable]:
    """What the product makes of each value, in the terms of the reference decoder."""
    frame = decoded_frame(spark, ddl, values, unit)
    fields = frame.schema["d"].dataType
    rows = {row["place"]: row["d"] for row in frame.select("place", "d").toArrow().to_pylist()}
    return [outcome(rows[place], fields) for place in range(len(values))]


def outcome(row: dict[str, Any] | None, fields: Any) -> dict[str, Any] | Undecodable:
    if row is None:
        return {name: None for name in fields.names if name != "_error"}
    if row["_error"] is not None:
        assert all(each is None for name, each in row.items() if name != "_error")
        return Undecodable(row["_error"])
    return {f.name: _plain(row[f.name], f.dataType) for f in fields if f.name != "_error"}


def _plain(value: Any, declared: T.DataType) -> Any:
    if value is None:
        return None
    match declared:
        case T.StructType():
            return {each.name: _plain(value[each.name], each.dataType) for each in declared}
        case T.ArrayType():
            return [_plain(each, declared.elementType) for each in value]
        case T.MapType():
            assert len({name for name, _ in value}) == len(value), "a name twice in a map"
            return {name: _plain(each, declared.valueType) for name, each in value}
        case T.TimestampType():
            assert isinstance(value, datetime)
            return value.replace(tzinfo=None)
        case _:
            return value
