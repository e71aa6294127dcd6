"""The strict decoding of JSON records: a record's bytes → the declared fields, or a reason why not.

Spark's `from_json` alone accepts invalid UTF-8, trailing content, wrapped integers, infinities and
re-rendered numbers. Here a record is first read natively, with one parse; only what that reading
cannot vouch for is read again, exactly: see json_native and json_exact.
"""

from __future__ import annotations

import re
from functools import cached_property, reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.lake.decoding.json_exact import ExactReading, mark_scalars, texts_of, why_unclean
from sluice.lake.decoding.json_misfits import first_misfit
from sluice.lake.decoding.json_native import (
    doubt,
    native_schema,
    native_value,
    needs_plain_text,
    vouches_for,
)
from sluice.lake.decoding.json_rescue import rescued_members
from sluice.lake.decoding.json_scalars import MICROSECOND_DIGITS, decimal_in_text, let

VALUE = "value"
ERROR = "_error"
RESCUED = "_rescued"
MAX_NESTING = 1_000

UNSURE = "the quick decoding cannot judge it"
_NOT_AN_OBJECT = "not one JSON object"


class StrictJson:
    """The decoding of one schema. Its expressions are built once, and serve every pass.

    `nonce` is a name that no record can guess: 16 or more random letters and digits, drawn per
    job. A null value gives nulls throughout. The session needs spark_keys.EXACT_CONF.
    `raw` are the bytes to decode, `refusal` is an error that is known before. With `rescue`, the
    members that are not declared are kept: see rescued_members.
    """

    def __init__(
        self,
        fields: T.StructType,
        nonce: str,
        timestamp_unit: str | None = None,
        raw: Column | None = None,
        refusal: Column | None = None,
        rescue: bool = False,
    ) -> None:
        if not re.fullmatch(r"[A-Za-z0-9]{16,}", nonce):
            raise ValueError("nonce: expected at least 16 letters and digits")
        if timestamp_unit not in (None, *MICROSECOND_DIGITS):
            raise ValueError(f"timestamp_unit: expected s, ms or us, found {timestamp_unit!r}")
        self._raw = F.col(VALUE) if raw is None else raw
        self._text = self._raw.cast("string")
        self._refusal = F.lit(None).cast("string") if refusal is None else refusal
        self._rescue = rescue
        self._fields = fields
        self._nonce = nonce
        self._unit = timestamp_unit
        self._alone_name, self._parsed_name = f"_{nonce}_alone", f"_{nonce}_parsed"
        self._alone, self._parsed = F.col(self._alone_name), F.col(self._parsed_name)
        self._names = [f"_{nonce}_{place}" for place, _ in enumerate(fields)]
        self._options = {
            "mode": "PERMISSIVE",
            "allowSingleQuotes": "false",
            "allowNonNumericNumbers": "false",
            "maxNestingDepth": str(MAX_NESTING),
            "maxStringLen": str(2**31 - 1),
            "columnNameOfCorruptRecord": nonce,
        }

    def decode(self, records: DataFrame, into: str, exact: bool) -> DataFrame:
        """Add struct column `into`: the declared fields, `_rescued` where asked for, and `_error`,
        null where decodable.

        Without `exact`, records that only the exact reading can judge count as errors, and their
        fields mean nothing: this keeps the exact reading's large expressions out of the usual pass.
        """
        if not vouches_for(self._fields):
            return records.withColumn(into, self._exact_alone)
        # Each step uses the one before many times, so Spark keeps them apart: one parse a record.
        decoded = self._either if exact else self._natively(self._unsure)
        return (
            records.withColumn(self._alone_name, self._is_alone)
            .withColumn(self._parsed_name, self._parse)
            .withColumns(self._values)
            .withColumn(into, decoded)
            .drop(self._alone_name, self._parsed_name, *self._names)
        )

    @cached_property
    def _is_alone(self) -> Column:
        """True for strict UTF-8 whose only closing brace is its end: nothing follows the object.

        Splitting by one character is by far the cheapest scan, and it spoils invalid UTF-8.
        """
        parts = F.split(self._text, "}", 2)
        return self._text.startswith(F.get(parts, F.lit(0))) & (F.get(parts, F.lit(1)) == "")

    @cached_property
    def _parse(self) -> Column:
        """Any other text gets one more member at its end, which must be found in the object."""
        end = f',"{self._closed}":true}}'
        body = F.substring(self._raw, F.lit(1), F.octet_length(self._raw) - 1)
        longer = F.when(
            self._text.endswith("}"), F.concat(body.cast("string"), F.lit(end))
        ).otherwise(F.regexp_replace(self._text, r"\}[ \t\r\n]++\z", end))
        schema = (
            native_schema(self._fields, self._unit)
            .add(self._nonce, T.StringType())
            .add(self._closed, T.BooleanType())
        )
        text = F.when(self._alone, self._text).otherwise(longer)
        return F.from_json(text, schema, self._options)

    @property
    def _closed(self) -> str:
        return f"{self._nonce}z"

    @cached_property
    def _values(self) -> dict[str, Column]:
        """The fields as read natively; `_doubtful` decides whether to believe them."""
        return dict(zip(self._names, map(self._value, self._fields), strict=True))

    def _value(self, field: T.StructField) -> Column:
        parsed = self._parsed[field.name]
        if isinstance(field.dataType, T.DecimalType):
            found = decimal_in_text(self._text, field.name, field.dataType)
            return F.when(parsed.isNotNull(), found)
        return native_value(parsed, field.dataType, self._unit)

    @cached_property
    def _unsure(self) -> Column:
        unsure = F.when(self._raw.isNotNull() & self._doubtful, F.lit(UNSURE))
        return F.coalesce(self._refusal, unsure)

    @cached_property
    def _either(self) -> Column:
        otherwise = F.when(self._doubtful, self._exact).otherwise(self._natively(_no_error()))
        return self._unless_null(otherwise)

    @cached_property
    def _exact_alone(self) -> Column:
        return self._unless_null(self._exact)

    def _natively(self, error: Column) -> Column:
        values = [
            F.col(name).alias(each.name)
            for name, each in zip(self._names, self._fields, strict=True)
        ]
        return F.struct(*values, *self._rescued, error.alias(ERROR))

    def _unless_null(self, decoded: Column) -> Column:
        """Marked non-deterministic, or Spark would copy all this into a filter on an error.

        A filter pushed below the parse repeats the parse for every mention: dozens of times.
        """
        refused = F.when(self._refusal.isNotNull(), self._refused(self._refusal))
        return refused.when(self._raw.isNotNull() & (F.spark_partition_id() >= 0), decoded)

    @cached_property
    def _doubtful(self) -> Column:
        doubts = [
            doubt(self._parsed[each.name], F.col(name), each.dataType, self._text)
            for name, each in zip(self._names, self._fields, strict=True)
        ]
        return reduce(or_, [self._text_doubt(), *(each for each in doubts if each is not None)])

    def _text_doubt(self) -> Column:
        misfit = self._parsed.isNull() | self._parsed[self._nonce].isNotNull()
        escaped = F.size(F.split(self._text, r"\\", 2)) > 1
        if needs_plain_text(self._fields):
            return misfit | ~self._alone | escaped
        closed = F.coalesce(self._parsed[self._closed], F.lit(False))
        one_object = self._alone | (closed & F.is_valid_utf8(self._text))
        return misfit | ~one_object | (escaped & self._text.contains("\\u"))

    @cached_property
    def _exact_reading(self) -> ExactReading:
        return ExactReading(self._nonce, self._options, self._unit)

    @cached_property
    def _rescued(self) -> list[Column]:
        if not self._rescue:
            return []
        marked = mark_scalars(self._text, self._nonce)
        found = rescued_members(self._text, marked, self._exact_reading, self._fields.names)
        return [found.alias(RESCUED)]

    @cached_property
    def _exact(self) -> Column:
        """The slow and complete reading, which also finds the reason."""
        exact = self._exact_reading
        schema = texts_of(self._fields).add(self._nonce, T.BooleanType())
        parsed = self._wrapped(mark_scalars(self._text, self._nonce), schema)

        def outcome(wrapped: Column) -> Column:
            texts = F.get(wrapped, F.lit(0))
            values = exact.fields(texts, self._fields)
            members = F.struct(texts.alias("texts"), values.alias("values"))

            def judged(both: Column) -> Column:
                misfit = first_misfit(exact, self._fields, both["texts"], both["values"], F.lit(""))
                return self._outcome(both["values"], self._is_one_object(wrapped), misfit)

            return let(members, judged)

        unclean = why_unclean(self._text)
        return F.when(unclean.isNull(), let(parsed, outcome)).otherwise(self._refused(unclean))

    def _wrapped(self, text: Column, schema: T.StructType) -> Column:
        """Parsed as `[value, {nonce: true}]`: whatever follows the object breaks this form."""
        array = F.concat(F.lit("["), text, F.lit(f',{{"{self._nonce}":true}}]'))
        one_more = {**self._options, "maxNestingDepth": str(MAX_NESTING + 1)}
        return F.from_json(array, T.ArrayType(schema), one_more)

    def _is_one_object(self, wrapped: Column) -> Column:
        whole = F.get(wrapped, F.lit(0)).isNotNull() & F.get(wrapped, F.lit(1))[self._nonce]
        return F.coalesce((F.size(wrapped) == 2) & whole, F.lit(False))

    def _outcome(self, values: Column, one_object: Column, misfit: Column) -> Column:
        error = F.when(~one_object, F.lit(_NOT_AN_OBJECT)).otherwise(misfit)
        fields = [values[each.name].alias(each.name) for each in self._fields]
        decoded = F.struct(*fields, *self._rescued, _no_error().alias(ERROR))
        return let(error, lambda why: F.when(why.isNull(), decoded).otherwise(self._refused(why)))

    def _refused(self, error: Column) -> Column:
        nulls = [F.lit(None).cast(each.dataType).alias(each.name) for each in self._fields]
        none = [_no_error().alias(RESCUED)] if self._rescue else []
        return F.struct(*nulls, *none, error.alias(ERROR))


def _no_error() -> Column:
    return F.lit(None).cast("string")
