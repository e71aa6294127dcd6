"""Chosen records: those of a batch that it may change, where it reads more than these."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from sluice.offsets.ranges import OffsetRange

_PLACE = ("topic", "partition", "offset")


def only_chosen(spark: SparkSession, records: DataFrame, only: Sequence[OffsetRange]) -> DataFrame:
    """The records at these offsets."""
    offsets = offsets_in(spark, only, _PLACE)
    return records.join(F.broadcast(offsets), list(_PLACE), "left_semi")


def offsets_in(
    spark: SparkSession, ranges: Sequence[OffsetRange], names: tuple[str, str, str]
) -> DataFrame:
    """A row for each offset of some ranges: topic, partition and offset, by these names."""
    topic, partition, offset = names
    runs = [(e.partition.topic, e.partition.partition, e.start, e.end - 1) for e in ranges]
    columns = f"{topic} STRING, {partition} INT, first LONG, last LONG"
    every = F.explode(F.sequence("first", "last")).alias(offset)
    return spark.createDataFrame(runs, columns).select(topic, partition, every)
