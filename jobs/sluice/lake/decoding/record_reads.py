"""Record reads: a record's bytes as a struct, by one function of ours on the JVM."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.lake.decoding.frames import BARE
from sluice.spec_file.formats import Source


def read_by(
    function: str, source: Source, fields: T.StructType, frames: str, *given: str | bool
) -> Column:
    """The columns, `_rescued` where asked for, and `(error)`; null where the source is.

    Not deterministic, or Spark would copy the reading into a filter on an error.
    """
    record = F.struct(source) if frames == BARE else F.struct(source, "headers")
    read = F.call_function(function, record, *map(F.lit, (fields.json(), frames, *given)))
    return F.when(F.col(source).isNotNull() & (F.spark_partition_id() >= 0), read)
