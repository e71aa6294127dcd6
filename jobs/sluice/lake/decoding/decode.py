"""Decoding: a record's value becomes the declared columns, or an error."""

from __future__ import annotations

import uuid
from functools import singledispatch
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.strict_json import ERROR, VALUE, StrictJson
from sluice.spec.formats import Format, JsonFormat, RawFormat

DECODED = "decoded"


class Decode(Protocol):
    """Adds struct column `decoded`: the declared columns, and `_error`, null where decodable.

    Without `exact` it is quicker, but takes some decodable records for undecodable ones.
    """

    def __call__(self, records: DataFrame, *, exact: bool) -> DataFrame:
        """The records with the column."""


@singledispatch
def decoder(form: Format) -> Decode:
    """The format's decoding; made once, it is cheap for every pass."""
    raise TypeError(f"no decoding for {form}")


@decoder.register
def _(form: RawFormat) -> Decode:
    def decode(records: DataFrame, *, exact: bool) -> DataFrame:
        nothing_wrong = F.lit(None).cast("string").alias(ERROR)
        return records.withColumn(DECODED, F.struct(VALUE, nothing_wrong))

    return decode


@decoder.register
def _(form: JsonFormat) -> Decode:
    strict = StrictJson(struct_type(form.columns), uuid.uuid4().hex, form.timestamp_unit)

    def decode(records: DataFrame, *, exact: bool) -> DataFrame:
        return strict.decode(records, DECODED, exact)

    return decode
