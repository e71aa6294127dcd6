"""Native reading: a record parsed by Spark straight into types close to the declared ones.

Quick, and correct wherever it vouches for a value; the exact reading does the rest.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.lake.decoding.json_scalars import (
    binary_from_text,
    date_from_text,
    plain_timestamp,
    timestamp_from_integer,
)

# Texts that, as numbers, Jackson may have rendered differently from how they were written.
_RERENDERED = r'\A(?:-?[0-9]+\.[0-9]+(?:E-?[0-9]+)?|"-?Infinity")\z'


def native_type(declared: T.DataType, unit: str | None) -> T.DataType:
    """The type to parse a declared type with."""
    match declared:
        case T.ByteType():  # Jackson accepts 128 to 255 as a byte
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


def native_schema(fields: T.StructType, unit: str | None) -> T.StructType:
    """The fields to parse. A DECIMAL is parsed as DOUBLE, only to check that it is a number."""
    return T.StructType(
        [
            T.StructField(
                each.name,
                T.DoubleType()
                if isinstance(each.dataType, T.DecimalType)
                else native_type(each.dataType, unit),
            )
            for each in fields
        ]
    )


def vouches_for(fields: T.StructType) -> bool:
    """False where the exact reading is needed: Spark rounds decimals, and parses them from strings.

    At the top level, json_scalars.decimal_in_text avoids that.
    """
    return not any(_holds_decimal(f.dataType) for f in fields if not _is_decimal(f.dataType))


def needs_plain_text(fields: T.StructType) -> bool:
    """Whether the native reading holds only for one flat object written without escapes."""
    return any(_is_decimal(each.dataType) for each in fields)


def _is_decimal(declared: T.DataType) -> bool:
    return isinstance(declared, T.DecimalType)


def _holds_decimal(declared: T.DataType) -> bool:
    match declared:
        case T.ArrayType():
            return _holds_decimal(declared.elementType)
        case T.MapType():
            return _holds_decimal(declared.valueType)
        case T.StructType():
            return any(_holds_decimal(each.dataType) for each in declared)
        case _:
            return _is_decimal(declared)


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
                return plain_timestamp(parsed)
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


def doubt(parsed: Column, value: Column, declared: T.DataType, raw: Column) -> Column | None:
    """True where `value` may not be what was written; false or null where it surely is.

    None for a type that leaves no doubt at all.
    """
    match declared:
        case T.StringType():
            return _maybe_rerendered(value, raw)
        case T.BinaryType():
            lost = value.isNull() & parsed.isNotNull()
            return lost | parsed.rlike(r"\A(?:[0-9]+|true)\z")
        case T.FloatType() | T.DoubleType():
            return F.abs(value) == float("inf")
        case T.ByteType() | T.DateType() | T.TimestampType() | T.DecimalType():
            return value.isNull() & parsed.isNotNull()
        case T.StructType():
            return any_doubt(parsed, value, declared, raw)
        case T.ArrayType():
            return _element_doubt(parsed, value, declared.elementType, raw)
        case T.MapType():
            return _member_doubt(parsed, value, declared.valueType, raw)
        case _:
            return None


def any_doubt(parsed: Column, value: Column, declared: T.StructType, raw: Column) -> Column | None:
    """Doubt about any field of a struct."""
    doubts = [doubt(parsed[f.name], value[f.name], f.dataType, raw) for f in declared]
    return disjunction([each for each in doubts if each is not None])


def _maybe_rerendered(text: Column, raw: Column) -> Column:
    # Texts below ":" begin with a digit, a sign, a quote or a space: few reach the costly tests.
    # Those are in a CASE, or Spark would share the search of the record and make it every time.
    zero = F.when(text == "0", raw.contains("-0"))
    number = F.when(text < ":", text.rlike(_RERENDERED) | zero)
    return number | text.startswith("{") | text.startswith("[")


def _element_doubt(
    parsed: Column, value: Column, element: T.DataType, raw: Column
) -> Column | None:
    if doubt(parsed, value, element, raw) is None:
        return None

    def of_pair(pair: Column) -> Column:
        found = doubt(pair["p"], pair["v"], element, raw)
        return F.lit(False) if found is None else found

    pairs = F.zip_with(parsed, value, lambda p, v: F.struct(p.alias("p"), v.alias("v")))
    return F.exists(pairs, of_pair)


def _member_doubt(parsed: Column, value: Column, member: T.DataType, raw: Column) -> Column:
    """Also true for repeated names: Spark keeps members of the same name."""
    names = F.map_keys(parsed)
    repeated = F.size(F.array_distinct(names)) != F.size(names)
    inner = _element_doubt(F.map_values(parsed), F.map_values(value), member, raw)
    return repeated if inner is None else repeated | inner


def disjunction(terms: list[Column]) -> Column | None:
    """Whether any term is true; None when there are none."""
    return reduce(or_, terms) if terms else None


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
