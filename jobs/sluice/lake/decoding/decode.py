"""Decoding: a record's value becomes the declared columns, or an error."""

from __future__ import annotations

import uuid
from functools import singledispatch

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.strict_json import ERROR, decode_json
from sluice.spec.formats import Format, JsonFormat, RawFormat

DECODED = "decoded"


@singledispatch
def decode(form: Format, records: DataFrame, exact: bool) -> DataFrame:
    """Add struct column `decoded`: the declared columns, and `_error`, null where decodable.

    Without `exact` it is quicker, but takes some decodable records for undecodable ones.
    """
    raise TypeError(f"no decoding for {form}")


@decode.register
def _(form: RawFormat, records: DataFrame, exact: bool) -> DataFrame:
    nothing_wrong = F.lit(None).cast("string").alias(ERROR)
    return records.withColumn(DECODED, F.struct("value", nothing_wrong))


@decode.register
def _(form: JsonFormat, records: DataFrame, exact: bool) -> DataFrame:
    return decode_json(
        records,
        "value",
        struct_type(form.columns),
        into=DECODED,
        nonce=uuid.uuid4().hex,
        timestamp_unit=form.timestamp_unit,
        exact=exact,
    )
