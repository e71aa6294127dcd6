"""Kept rows: those that several questions are asked about, computed once."""

from __future__ import annotations

from pyspark import StorageLevel
from pyspark.sql import DataFrame


def kept(rows: DataFrame) -> DataFrame:
    """The rows as they are now, on the disk of Spark.

    In memory, which is Spark's default here, a million changed rows could end a driver of 2 GB: the
    MERGE that follows reads Parquet beside them.
    """
    return rows.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)
