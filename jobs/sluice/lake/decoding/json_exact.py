"""Exact reading: every scalar of a record is read as the text it was written with.

Spark's parser re-renders numbers and hides whether a text was a string or a number. So each scalar
is first marked in the JSON text: `"ab"` → `"<nonce>:ab"`, `1.10` → `"<nonce>1.10:"`.
The marking keeps valid JSON valid and invalid JSON invalid; it only quotes well-formed values.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.lake.decoding.json_scalars import (
    binary_from_text,
    date_from_text,
    decimal_from_number,
    let,
    timestamp_from_number,
    timestamp_from_text,
)
from sluice.lake.decoding.misfits import quoted

# Possessive quantifiers throughout: linear time and constant stack for texts of many megabytes.
_STRING = r'"((?:[^"\\]++|\\.)*+)"'
_NAME = r'"(?:[^"\\]++|\\.)*+"(?=[ \t\r\n]*+:)'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_SCALAR = (
    rf'\G((?:[^"\-0-9tf]++|{_NAME})*+)(?:{_STRING}|({_NUMBER}|true|false))'
    r"(?=[ \t\r\n]*+[,\]}])"
)
_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_SURROGATE = r"\\u[dD][89a-fA-F]"
_INTEGER = r"\A-?(?:0|[1-9][0-9]*+)\z"


def why_unclean(text: Column) -> Column:
    """Why a text is none; null if it is. Unpaired escaped surrogates have no UTF-8 form."""
    escapes = F.regexp_replace(F.regexp_replace(text, r"\\\\", "  "), _PAIR, "  ")
    lone = text.contains("\\u") & escapes.rlike(_SURROGATE)
    return F.when(~F.is_valid_utf8(text), F.lit("not strict UTF-8")).when(
        lone, F.lit("a lone surrogate escape")
    )


def mark_scalars(text: Column, nonce: str) -> Column:
    """The JSON text with every scalar value but null turned into a marked string."""
    return F.regexp_replace(text, _SCALAR, f'$1"{nonce}$3:$2"')


class ExactReading:
    """Marked texts → declared values; null where one does not fit."""

    def __init__(self, nonce: str, options: dict[str, str], unit: str | None) -> None:
        self._nonce = nonce
        self._options = options
        self._unit = unit

    def value(self, text: Column, declared: T.DataType) -> Column:
        match declared:
            case T.StructType():
                return self._struct(text, declared)
            case T.ArrayType():
                return self._array(text, declared.elementType)
            case T.MapType():
                return self._map(text, declared.valueType)
            case T.StringType():
                return self._string(text)
            case T.DateType():
                return date_from_text(self._quoted(text))
            case T.BinaryType():
                return binary_from_text(self._quoted(text))
            case T.TimestampType():
                return self._timestamp(text)
            case _:
                return let(self._bare(text), lambda bare: _bare_value(bare, declared))

    def _quoted(self, text: Column) -> Column:
        """The text between the quotes, null for anything but a JSON string."""
        return F.when(self._is_string(text), F.substring(text, len(self._nonce) + 2, 2**31 - 1))

    def _bare(self, text: Column) -> Column:
        """A number, true or false as written; null for anything else."""
        bare = F.regexp_extract(text, rf"\A{self._nonce}([^:]*+):\z", 1)
        return F.when(text.startswith(self._nonce) & ~self._is_string(text), bare)

    def _is_string(self, text: Column) -> Column:
        return text.startswith(f"{self._nonce}:")

    def _string(self, text: Column) -> Column:
        return F.coalesce(self._quoted(text), self._bare(text), self._unmarked(text))

    def json_text(self, text: Column) -> Column:
        """The value as JSON text: numbers as they were written, strings by equivalent escapes."""
        return F.coalesce(quoted(self._quoted(text)), self._bare(text), self._unmarked(text))

    def _unmarked(self, container: Column) -> Column:
        strings = F.replace(container, F.lit(f'"{self._nonce}:'), F.lit('"'))
        return F.regexp_replace(strings, rf'"{self._nonce}([^:]*+):"', "$1")

    def _timestamp(self, text: Column) -> Column:
        unit, quoted = self._unit, let(self._quoted(text), timestamp_from_text)
        if unit is None:
            return quoted
        number = let(self._bare(text), lambda bare: timestamp_from_number(_number(bare), unit))
        return F.coalesce(quoted, number)

    def _struct(self, text: Column, declared: T.StructType) -> Column:
        return let(self.members(text, declared), lambda texts: self._whole_struct(texts, declared))

    def members(self, text: Column, declared: T.StructType) -> Column:
        """The declared members of an object as marked texts; null for anything else."""
        return F.from_json(self._opening(text, "{"), texts_of(declared), self._options)

    def _whole_struct(self, texts: Column, declared: T.StructType) -> Column:
        def whole(values: Column) -> Column:
            lost = [texts[f.name].isNotNull() & values[f.name].isNull() for f in declared]
            return F.when(texts.isNotNull() & ~reduce(or_, lost), values)

        return let(self.fields(texts, declared), whole)

    def fields(self, texts: Column, declared: T.StructType) -> Column:
        """The struct of the fields' values; a field that does not fit is null."""
        return F.struct(
            *[self.value(texts[each.name], each.dataType).alias(each.name) for each in declared]
        )

    def _array(self, text: Column, element: T.DataType) -> Column:
        return let(self.elements(text), lambda texts: self._whole_array(texts, element))

    def elements(self, text: Column) -> Column:
        """An array's elements as marked texts; null for anything else."""
        return F.from_json(self._opening(text, "["), T.ArrayType(T.StringType()), self._options)

    def _whole_array(self, texts: Column, element: T.DataType) -> Column:
        def misfit(text: Column, value: Column) -> Column:
            return text.isNotNull() & value.isNull()

        return let(
            F.transform(texts, lambda text: self.value(text, element)),
            lambda values: F.when(
                ~F.exists(F.zip_with(texts, values, misfit), lambda bad: bad), values
            ),
        )

    def _map(self, text: Column, value: T.DataType) -> Column:
        return let(self.entries(text), lambda members: self._whole_map(members, value))

    def entries(self, text: Column) -> Column:
        """An object's `names` and, as marked texts, `texts`: the last of a name; null if none."""
        return self._last_members(self._parsed(self._opening(text, "{")))

    def undeclared(self, record: Column, declared: Sequence[str]) -> Column:
        """The same of a marked record, but for the declared members."""
        others = F.map_filter(self._parsed(record), lambda name, _: ~name.isin(*declared))
        return self._last_members(others)

    def _parsed(self, text: Column) -> Column:
        return F.from_json(text, "MAP<STRING, STRING>", self._options)

    def _last_members(self, parsed: Column) -> Column:
        def reversed_members(found: Column) -> Column:
            names, texts = F.reverse(F.map_keys(found)), F.reverse(F.map_values(found))
            return F.struct(names.alias("names"), texts.alias("texts"))

        return let(let(parsed, reversed_members), _last_of_each_name)

    def _whole_map(self, members: Column, value: T.DataType) -> Column:
        whole = let(members["texts"], lambda each: self._whole_array(each, value))
        return F.when(whole.isNotNull(), F.map_from_arrays(members["names"], whole))

    def _opening(self, text: Column, bracket: str) -> Column:
        return F.when(text.startswith(bracket), text)


def _last_of_each_name(reversed_members: Column) -> Column:
    """The last of repeated names counts; it comes first, as the members are reversed."""
    names = F.reverse(F.array_distinct(reversed_members["names"]))
    texts = F.transform(
        names,
        lambda name: F.element_at(
            reversed_members["texts"],
            F.array_position(reversed_members["names"], name).cast("int"),
        ),
    )
    return F.struct(names.alias("names"), texts.alias("texts"))


def _number(bare: Column) -> Column:
    return F.when(~bare.isin("true", "false"), bare)


def _bare_value(bare: Column, declared: T.DataType) -> Column:
    match declared:
        case T.BooleanType():
            return F.when(bare.isin("true", "false"), bare == "true")
        case T.FloatType() | T.DoubleType():
            number = _number(bare).try_cast(declared)
            return F.when(F.abs(number) < float("inf"), number)
        case T.DecimalType():
            return decimal_from_number(_number(bare), declared)
        case _:
            return F.when(bare.rlike(_INTEGER), bare).try_cast(declared)


def texts_of(declared: T.StructType) -> T.StructType:
    """The same fields, all as text."""
    return T.StructType([T.StructField(each.name, T.StringType()) for each in declared])
