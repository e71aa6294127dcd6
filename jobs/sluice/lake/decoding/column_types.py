"""Declared columns as Spark types."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import types as spark

from sluice.columns.columns import Array, Column, ColumnType, Decimal, Map, Struct

_PRIMITIVES: dict[str, spark.DataType] = {
    "STRING": spark.StringType(),
    "BOOLEAN": spark.BooleanType(),
    "TINYINT": spark.ByteType(),
    "SMALLINT": spark.ShortType(),
    "INT": spark.IntegerType(),
    "BIGINT": spark.LongType(),
    "FLOAT": spark.FloatType(),
    "DOUBLE": spark.DoubleType(),
    "DATE": spark.DateType(),
    "TIMESTAMP": spark.TimestampType(),
    "BINARY": spark.BinaryType(),
    "VARIANT": spark.VariantType(),
}


def struct_type(columns: Iterable[Column]) -> spark.StructType:
    """The declared columns as one struct; every field may be null."""
    return spark.StructType(
        [spark.StructField(each.name, spark_type(each.type)) for each in columns]
    )


def spark_type(declared: ColumnType) -> spark.DataType:
    """A declared type as Spark's."""
    match declared:
        case Decimal(precision, scale):
            return spark.DecimalType(precision, scale)
        case Array(element):
            return spark.ArrayType(spark_type(element))
        case Map(value):
            return spark.MapType(spark.StringType(), spark_type(value))
        case Struct(fields):
            return struct_type(fields)
        case _:
            return _PRIMITIVES[declared.name]
