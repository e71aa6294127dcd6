"""Decoding: a record's value becomes the declared columns, or an error."""

from __future__ import annotations

from functools import singledispatch

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.formats import Format, RawFormat

DECODED, ERROR = "decoded", "error"


@singledispatch
def decode(form: Format, records: DataFrame) -> DataFrame:
    """Add column `decoded`, a struct of the declared columns, and `error`, null where decodable."""
    raise TypeError(f"no decoding for {form}")


@decode.register
def _(form: RawFormat, records: DataFrame) -> DataFrame:
    return records.withColumn(DECODED, F.struct("value")).withColumn(
        ERROR, F.lit(None).cast("string")
    )
