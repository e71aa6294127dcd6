"""Decoded fields: the names that a decoded record has beside its columns."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

VALUE = "value"
"""The column of what has no fields: raw bytes."""
ERROR = "_error"
"""Why a record is none; null where it is decodable."""
RESCUED = "_rescued"
"""The fields that no column declares, as JSON text."""


def refused(columns: T.StructType, error: Column, rescue: bool = False) -> Column:
    """The struct of a record that is none."""
    nulls = [F.lit(None).cast(each.dataType).alias(each.name) for each in columns]
    none_rescued = [F.lit(None).cast("string").alias(RESCUED)] if rescue else []
    return F.struct(*nulls, *none_rescued, error.alias(ERROR))
