"""Native reading: a record parsed by Spark straight into types close to the declared ones.

Quick, and right wherever it claims to fit; what it cannot vouch for is left to the exact reading.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.lake.json_scalars import (
    binary_from_text,
    date_from_text,
    timestamp_from_integer,
    timestamp_from_text,
)

# What Jackson renders differently from how it was written, were it a number; and every container.
_RERENDERED = r'\A(?:-?[0-9]+\.[0-9]+(?:E-?[0-9]+)?|"-?Infinity")\z'


def native_type(declared: T.DataType, unit: str | None) -> T.DataType:
    """The type to parse a declared type with."""
    match declared:
        case T.ByteType():  # Jackson takes 128 to 255 for a byte
            return T.ShortType()
        case T.DateType() | T.BinaryType():
            return T.StringType()
        case T.TimestampType():
            return T.StringType() if unit is None else T.LongType()
        case T.ArrayType():
            return T.ArrayType(native_type(declared.elementType, unit))
        case T.MapType():
            return T.MapType(T.StringType(), native_type(declared.valueType, unit))
        case T.StructType():
            return T.StructType(
                [T.StructField(each.name, native_type(each.dataType, unit)) for each in declared]
            )
        case _:
            return declared


def vouches_for(declared: T.DataType) -> bool:
    """False where Spark cannot tell number from text, or rounds: the exact reading has to do it."""
    match declared:
        case T.DecimalType():
            return False
        case T.ArrayType():
            return vouches_for(declared.elementType)
        case T.MapType():
            return vouches_for(declared.valueType)
        case T.StructType():
            return all(vouches_for(each.dataType) for each in declared)
        case _:
            return True


def native_value(parsed: Column, declared: T.DataType, unit: str | None) -> Column:
    """The declared type's value, null where the parsed one does not fit."""
    match declared:
        case T.ByteType():
            return parsed.try_cast("tinyint")
        case T.DateType():
            return date_from_text(parsed)
        case T.BinaryType():
            return binary_from_text(parsed)
        case T.TimestampType():
            if unit is None:
                return timestamp_from_text(parsed)
            return timestamp_from_integer(parsed, unit)
        case T.ArrayType() if _converts(declared):
            return F.transform(parsed, lambda e: native_value(e, declared.elementType, unit))
        case T.MapType() if _converts(declared):
            return F.transform_values(
                parsed, lambda _, e: native_value(e, declared.valueType, unit)
            )
        case T.StructType() if _converts(declared):
            fields = [
                native_value(parsed[each.name], each.dataType, unit).alias(each.name)
                for each in declared
            ]
            return F.when(parsed.isNotNull(), F.struct(*fields))
        case _:
            return parsed


def fits(parsed: Column, value: Column, declared: T.DataType, raw: Column) -> Column | None:
    """Whether `value` surely is what was written; None when it always is."""
    match declared:
        case T.StringType():
            return F.coalesce(~_maybe_rerendered(parsed, raw), F.lit(True))
        case T.BinaryType():
            return parsed.isNull() | (value.isNotNull() & ~parsed.rlike(r"\A(?:[0-9]+|true)\z"))
        case T.FloatType() | T.DoubleType():
            return F.coalesce(F.abs(value) < float("inf"), F.lit(True))
        case T.ByteType() | T.DateType() | T.TimestampType():
            return parsed.isNull() | value.isNotNull()
        case T.ArrayType() | T.MapType() | T.StructType():
            return _all_fit(parsed, value, declared, raw)
        case _:
            return None


def _maybe_rerendered(text: Column, raw: Column) -> Column:
    # Texts below ":" begin with a digit, a sign, a quote or a space: few get to the costly tests.
    number = (text < ":") & (text.rlike(_RERENDERED) | ((text == "0") & raw.contains("-0")))
    return number | text.startswith("{") | text.startswith("[")


def _all_fit(parsed: Column, value: Column, declared: T.DataType, raw: Column) -> Column | None:
    match declared:
        case T.StructType():
            each_fits = [fits(parsed[f.name], value[f.name], f.dataType, raw) for f in declared]
            checks = [check for check in each_fits if check is not None]
            return parsed.isNull() | conjunction(checks) if checks else None
        case T.ArrayType():
            return _elements_fit(parsed, value, declared.elementType, raw)
        case T.MapType():
            keys = F.map_keys(parsed)
            distinct = F.size(F.array_distinct(keys)) == F.size(keys)
            inner = _elements_fit(
                F.map_values(parsed), F.map_values(value), declared.valueType, raw
            )
            both = distinct if inner is None else distinct & inner
            return parsed.isNull() | both
        case _:
            raise TypeError(f"not a nested type: {declared}")


def _elements_fit(parsed: Column, value: Column, element: T.DataType, raw: Column) -> Column | None:
    if fits(parsed, value, element, raw) is None:
        return None

    def misfit(pair: Column) -> Column:
        check = fits(pair["p"], pair["v"], element, raw)
        return F.lit(False) if check is None else ~check

    pairs = F.zip_with(parsed, value, lambda p, v: F.struct(p.alias("p"), v.alias("v")))
    return parsed.isNull() | ~F.exists(pairs, misfit)


def conjunction(checks: list[Column]) -> Column:
    """All of them; true when there are none."""
    every = F.lit(True)
    for check in checks:
        every = every & check
    return every


def _converts(declared: T.DataType) -> bool:
    match declared:
        case T.ByteType() | T.DateType() | T.BinaryType() | T.TimestampType():
            return True
        case T.ArrayType():
            return _converts(declared.elementType)
        case T.MapType():
            return _converts(declared.valueType)
        case T.StructType():
            return any(_converts(each.dataType) for each in declared)
        case _:
            return False
