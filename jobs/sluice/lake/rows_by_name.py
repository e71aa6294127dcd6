"""Rows by name: rows of two schemas as those of one.

Spark's `unionByName` takes structs within a map by position, or refuses them.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.columns.names import as_compared, quoted


def union_of_rows(rows: DataFrame, others: DataFrame) -> DataFrame:
    """All rows, with the columns and fields of both; null where rows had none of the name."""
    whole = {as_compared(each.name): each.dataType for each in _both(rows.schema, others.schema)}
    one, other = (_filled(each, whole) for each in (rows, others))
    return one.unionByName(other, allowMissingColumns=True)


def _filled(rows: DataFrame, whole: dict[str, T.DataType]) -> DataFrame:
    changed = {
        each.name: _as(F.col(quoted(each.name)), each.dataType, whole[as_compared(each.name)])
        for each in rows.schema
        if each.dataType != whole[as_compared(each.name)]
    }
    return rows.withColumns(changed) if changed else rows


def _both(one: T.StructType, other: T.StructType) -> T.StructType:
    """The fields of both; a type without nested fields is that of the first."""
    theirs, known = {as_compared(x.name): x for x in other}, {as_compared(x.name) for x in one}
    own = [
        T.StructField(x.name, _merged(x.dataType, theirs[key].dataType) if key in theirs else kind)
        for x, key, kind in ((x, as_compared(x.name), x.dataType) for x in one)
    ]
    return T.StructType(own + [x for x in other if as_compared(x.name) not in known])


def _merged(one: T.DataType, other: T.DataType) -> T.DataType:
    match one, other:
        case T.StructType(), T.StructType():
            return _both(one, other)
        case T.ArrayType(), T.ArrayType():
            return T.ArrayType(_merged(one.elementType, other.elementType))
        case T.MapType(), T.MapType():
            return T.MapType(one.keyType, _merged(one.valueType, other.valueType))
    return one


def _as(value: Column, found: T.DataType, wanted: T.DataType) -> Column:
    """The value with the fields that are wanted; numbers stay as wide as they are."""
    match found, wanted:
        case T.StructType(), T.StructType():
            known = {as_compared(each.name): each for each in found}
            fields = [
                _as(value.getField(mine.name), mine.dataType, each.dataType).alias(each.name)
                if (mine := known.get(as_compared(each.name)))
                else F.lit(None).cast(each.dataType).alias(each.name)
                for each in wanted
            ]
            return F.when(value.isNotNull(), F.struct(*fields))
        case T.ArrayType(), T.ArrayType():
            return F.transform(value, lambda x: _as(x, found.elementType, wanted.elementType))
        case T.MapType(), T.MapType():
            return F.transform_values(value, lambda _, x: _as(x, found.valueType, wanted.valueType))
    return value
