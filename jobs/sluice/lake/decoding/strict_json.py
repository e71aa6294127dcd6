"""The strict decoding of JSON records: a record's bytes → the declared fields, or a reason why not.

Spark's `from_json` alone accepts invalid UTF-8, trailing content, wrapped integers, infinities and
re-rendered numbers. Here a record is first read natively, with one parse; only what that reading
cannot vouch for is read again, exactly: see json_native and json_exact.
"""

from __future__ import annotations

import re
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.lake.decoding.json_exact import ExactReading, mark_scalars, texts_of
from sluice.lake.decoding.json_native import (
    doubt,
    native_schema,
    native_value,
    needs_plain_text,
    vouches_for,
)
from sluice.lake.decoding.json_scalars import MICROSECOND_DIGITS, decimal_in_text, let

ERROR = "_error"
MAX_NESTING = 1_000

_UNSURE = "to be read exactly"
_NOT_UTF8 = "not strict UTF-8"
_LONE_SURROGATE = "a lone surrogate escape"
_NOT_AN_OBJECT = "not one JSON object"
_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_SURROGATE = r"\\u[dD][89a-fA-F]"


def decode_json(
    records: DataFrame,
    value: str,
    fields: T.StructType,
    *,
    into: str,
    nonce: str,
    timestamp_unit: str | None = None,
    exact: bool = True,
) -> DataFrame:
    """Add struct column `into`: the declared fields, and `_error`, null where decodable.

    Without `exact`, records that only the exact reading can judge count as errors: this keeps the
    exact reading's large expressions, which are slow to compile, out of the usual pass.

    `nonce` is a name that no record can guess: 16 or more random letters and digits, drawn per
    job. A null value gives nulls throughout. The session needs session.DECODING_CONF.
    """
    if not re.fullmatch(r"[A-Za-z0-9]{16,}", nonce):
        raise ValueError("nonce: expected at least 16 letters and digits")
    if timestamp_unit not in (None, *MICROSECOND_DIGITS):
        raise ValueError(f"timestamp_unit: expected s, ms or us, found {timestamp_unit!r}")
    reading = _Reading(F.col(value), fields, nonce, timestamp_unit)
    if not vouches_for(fields):
        return records.withColumn(into, reading.unless_null(reading.exact()))
    alone, wrapped, native = f"_{nonce}_alone", f"_{nonce}_wrapped", f"_{nonce}_native"
    parsed = F.col(alone), F.col(wrapped)
    # Each step uses the previous one many times, so they stay apart for Spark: one parse a record.
    return (
        records.withColumns({alone: reading.parse_alone(), wrapped: reading.parse_wrapped()})
        .withColumn(native, reading.native(*parsed))
        .withColumn(into, reading.decoded(*parsed, F.col(native), exact))
        .drop(alone, wrapped, native)
    )


class _Reading:
    def __init__(self, raw: Column, fields: T.StructType, nonce: str, unit: str | None) -> None:
        self._raw = raw
        self._text = raw.cast("string")
        self._fields = fields
        self._nonce = nonce
        self._unit = unit
        self._options = {
            "mode": "PERMISSIVE",
            "allowSingleQuotes": "false",
            "allowNonNumericNumbers": "false",
            "maxNestingDepth": str(MAX_NESTING),
            "maxStringLen": str(2**31 - 1),
            "columnNameOfCorruptRecord": nonce,
        }

    def _one_brace(self) -> Column:
        """A text whose only closing brace is its end: an object parsed from it has no trailer."""
        body = F.substring(self._raw, F.lit(1), F.octet_length(self._raw) - 1)
        return self._text.endswith("}") & ~body.cast("string").contains("}")

    def parse_alone(self) -> Column:
        """The cheap parse; as nothing can follow the object, no wrapping is needed."""
        schema = native_schema(self._fields, self._unit).add(self._nonce, T.StringType())
        return F.when(self._one_brace(), F.from_json(self._text, schema, self._options))

    def parse_wrapped(self) -> Column:
        schema = native_schema(self._fields, self._unit).add(self._nonce, T.BooleanType())
        return F.when(~self._one_brace(), self._wrapped(self._text, schema))

    def _wrapped(self, text: Column, schema: T.StructType) -> Column:
        """Parsed as `[value, {nonce: true}]`: whatever follows the object breaks this form."""
        array = F.concat(F.lit("["), text, F.lit(f',{{"{self._nonce}":true}}]'))
        one_more = {**self._options, "maxNestingDepth": str(MAX_NESTING + 1)}
        return F.from_json(array, T.ArrayType(schema), one_more)

    def _is_one_object(self, wrapped: Column) -> Column:
        whole = F.get(wrapped, F.lit(0)).isNotNull() & F.get(wrapped, F.lit(1))[self._nonce]
        return F.coalesce((F.size(wrapped) == 2) & whole, F.lit(False))

    def native(self, alone: Column, wrapped: Column) -> Column:
        """The fields as parsed natively; `decoded` decides whether to believe them."""
        values = [self._native_field(_field(alone, wrapped, each), each) for each in self._fields]
        return F.struct(*values, _no_error().alias(ERROR))

    def _native_field(self, parsed: Column, field: T.StructField) -> Column:
        if isinstance(field.dataType, T.DecimalType):
            found = decimal_in_text(self._text, field.name, field.dataType)
            return F.when(parsed.isNotNull(), found).alias(field.name)
        return native_value(parsed, field.dataType, self._unit).alias(field.name)

    def decoded(self, alone: Column, wrapped: Column, native: Column, exact: bool) -> Column:
        otherwise = self.exact() if exact else self._refused(F.lit(_UNSURE))
        doubts = [self._text_doubt(alone, wrapped), *self._doubts(alone, wrapped, native)]
        doubtful = reduce(or_, doubts)
        return self.unless_null(F.when(doubtful, otherwise).otherwise(native))

    def unless_null(self, decoded: Column) -> Column:
        """Marked non-deterministic, or Spark would copy all this into a filter on an error.

        A filter pushed below the parse repeats the parse for every mention: dozens of times.
        """
        return F.when(self._raw.isNotNull() & (F.spark_partition_id() >= 0), decoded)

    def _text_doubt(self, alone: Column, wrapped: Column) -> Column:
        is_alone = alone.isNotNull() & alone[self._nonce].isNull()
        if needs_plain_text(self._fields):
            return ~is_alone | self._text.contains("\\") | ~F.is_valid_utf8(self._text)
        one_object = is_alone | (alone.isNull() & self._is_one_object(wrapped))
        return ~one_object | self._text.contains("\\u") | ~F.is_valid_utf8(self._text)

    def _doubts(self, alone: Column, wrapped: Column, native: Column) -> list[Column]:
        doubts = [
            doubt(_field(alone, wrapped, each), native[each.name], each.dataType, self._text)
            for each in self._fields
        ]
        return [each for each in doubts if each is not None]

    def exact(self) -> Column:
        """The slow and complete reading, which also finds the reason."""
        exact = ExactReading(self._nonce, self._options, self._unit)
        schema = texts_of(self._fields).add(self._nonce, T.BooleanType())
        parsed = self._wrapped(mark_scalars(self._text, self._nonce), schema)

        def outcome(wrapped: Column) -> Column:
            texts = F.get(wrapped, F.lit(0))
            values = exact.fields(texts, self._fields)
            members = F.struct(texts.alias("texts"), values.alias("values"))
            return let(members, lambda both: self._outcome(both, self._is_one_object(wrapped)))

        unclean = self._unclean()
        return F.when(unclean.isNull(), let(parsed, outcome)).otherwise(self._refused(unclean))

    def _outcome(self, members: Column, one_object: Column) -> Column:
        misfit = F.coalesce(*[self._misfit(members, each) for each in self._fields], _no_error())
        error = F.when(~one_object, F.lit(_NOT_AN_OBJECT)).otherwise(misfit)
        values = [members["values"][each.name].alias(each.name) for each in self._fields]
        decoded = F.struct(*values, _no_error().alias(ERROR))
        return F.when(error.isNull(), decoded).otherwise(self._refused(error))

    def _misfit(self, members: Column, field: T.StructField) -> Column:
        lost = members["texts"][field.name].isNotNull() & members["values"][field.name].isNull()
        return F.when(lost, F.lit(f"{field.name}: not a {field.dataType.simpleString().upper()}"))

    def _refused(self, error: Column) -> Column:
        nulls = [F.lit(None).cast(each.dataType).alias(each.name) for each in self._fields]
        return F.struct(*nulls, error.alias(ERROR))

    def _unclean(self) -> Column:
        """Unpaired escaped surrogates have no UTF-8 form."""
        escapes = F.regexp_replace(F.regexp_replace(self._text, r"\\\\", "  "), _PAIR, "  ")
        lone = self._text.contains("\\u") & escapes.rlike(_SURROGATE)
        return F.when(~F.is_valid_utf8(self._text), F.lit(_NOT_UTF8)).when(
            lone, F.lit(_LONE_SURROGATE)
        )


def _field(alone: Column, wrapped: Column, field: T.StructField) -> Column:
    """The field as parsed, from whichever parse this record had."""
    from_wrapped = F.get(wrapped, F.lit(0))[field.name]
    return F.when(alone.isNotNull(), alone[field.name]).otherwise(from_wrapped)


def _no_error() -> Column:
    return F.lit(None).cast("string")
