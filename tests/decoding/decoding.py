"""Runs the product's JSON decoding over many values in one Spark job, for tests to look at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from sluice.lake.decoding.decoded_fields import ERROR
from sluice.lake.decoding.json_records import json_struct

from tests.decoding.reference_json import Undecodable

Outcome = dict[str, Any] | Undecodable
# What errors of frames begin with; a key, or what was found, follows.
UNKNOWN_SCHEMA = "no such schema in the registry:"
NO_FRAME = "no schema id: expected the byte 0 and an id, or a header"


class Table(NamedTuple):
    """Values, and the columns that they are decoded as."""

    ddl: str
    values: Sequence[bytes | None]
    unit: str | None = None


def side_by_side(spark: SparkSession, tables: Sequence[Sequence[bytes | None]]) -> DataFrame:
    """Each table's values as a column of its own, `v0`, `v1`, …, by their places."""
    rows = [
        (place, *(None if each is None else bytearray(each) for each in row))
        for place, row in enumerate(zip_longest(*tables))
    ]
    columns = ", ".join(f"v{n} BINARY" for n in range(len(tables)))
    return spark.createDataFrame(rows, f"place INT, {columns}")


def outcomes(frame: DataFrame, tables: Sequence[Sequence[bytes | None]]) -> list[list[Outcome]]:
    """What became of each value of the tables: in `d0`, `d1`, …, in one Spark job."""
    names = [f"d{n}" for n in range(len(tables))]
    rows = {row["place"]: row for row in frame.select("place", *names).toArrow().to_pylist()}
    return [
        [outcome(rows[place][name], frame.schema[name].dataType) for place in range(len(table))]
        for name, table in zip(names, tables, strict=True)
    ]


def decoded_frame(
    spark: SparkSession, ddl: str, values: Sequence[bytes | None], unit: str | None = None
) -> DataFrame:
    return side_by_side(spark, [values]).transform(_decode, Table(ddl, values, unit), "v0", "d")


def _decode(records: DataFrame, table: Table, source: str, into: str) -> DataFrame:
    fields = T._parse_datatype_string(table.ddl)
    assert isinstance(fields, T.StructType)
    read = json_struct(fields, "value", timestamp_unit=table.unit)
    return records.withColumn("value", F.col(source)).withColumn(into, read).drop("value")


def decoded_tables(spark: SparkSession, tables: Sequence[Table]) -> list[list[Outcome]]:
    """What the product makes of each value, in the terms of the reference decoder."""
    values = [table.values for table in tables]
    frame = side_by_side(spark, values)
    for n, table in enumerate(tables):
        frame = _decode(frame, table, f"v{n}", f"d{n}")
    return outcomes(frame, values)


def decoded(
    spark: SparkSession, ddl: str, values: Sequence[bytes | None], unit: str | None = None
) -> list[Outcome]:
    """The same of one table."""
    return decoded_tables(spark, [Table(ddl, values, unit)])[0]


def outcome(row: dict[str, Any] | None, fields: Any) -> Outcome:
    if row is None:
        return {name: None for name in fields.names if name != ERROR}
    if row[ERROR] is not None:
        assert all(each is None for name, each in row.items() if name != ERROR)
        return Undecodable(row[ERROR])
    return {f.name: _plain(row[f.name], f.dataType) for f in fields if f.name != ERROR}


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
