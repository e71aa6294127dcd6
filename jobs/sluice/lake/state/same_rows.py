"""Same rows: whether rows of two tables are equal in every column, of whatever type."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.columns.columns import Array, Column, ColumnType, Map, Primitive, Struct
from sluice.columns.names import quoted

# Without them the text of a moment has no microseconds.
_WHOLE = (
    """map('timestampFormat', "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX","""
    """ 'timestampNTZFormat', "yyyy-MM-dd'T'HH:mm:ss.SSSSSS")"""
)
_PLACE = ("_topic", "_topic_id", "_partition", "_offset")


def same_values(one: str, other: str, columns: Iterable[Column]) -> str:
    """The condition, as Spark SQL, that both have the same values in these columns."""
    return " AND ".join(f"{_compared(one, each)} <=> {_compared(other, each)}" for each in columns)


def without_equal(rows: DataFrame, others: DataFrame, columns: tuple[Column, ...]) -> DataFrame:
    """The rows that have no equal among others."""
    places = [Column(name, Primitive("STRING")) for name in _PLACE]
    equal = f"{same_values('one', 'other', places)} AND {same_values('one', 'other', columns)}"
    return rows.alias("one").join(others.alias("other"), F.expr(equal), "left_anti")


def _compared(table: str, column: Column) -> str:
    sql = f"{table}.{quoted(column.name)}"
    # Neither has an order, nor equality, in Spark.
    return f"to_json(struct({sql}), {_WHOLE})" if _has_no_equality(column.type) else sql


def _has_no_equality(kind: ColumnType) -> bool:
    match kind:
        case Map():
            return True
        case Array(element):
            return _has_no_equality(element)
        case Struct(fields):
            return any(_has_no_equality(each.type) for each in fields)
    return kind == Primitive("VARIANT")
