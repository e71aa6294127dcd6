"""Replacing: which rows of the data table a batch that reads offsets again takes the place of."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from sluice.landing import Reading
from sluice.planning.ranges import span_of


def rows_of(reading: Reading) -> str:
    """The predicate of the rows in the ranges: what Kafka no longer holds is not among them.

    By topic id: a topic that was deleted and created anew counts its offsets anew.
    """
    return " OR ".join(
        f"(_topic_id = '{reading.batch.topic_ids[each.partition.topic]}'"
        f" AND _partition = {each.partition.partition}"
        f" AND _offset >= {each.start} AND _offset < {each.end})"
        for each in reading.ranges
        if each.span
    )


def rows_to_keep(
    spark: SparkSession, uri: str, reading: Reading, records: DataFrame
) -> DataFrame | None:
    """The ranges' rows whose records Kafka does not give again; None where it gives them all.

    Compaction may have removed them, or a segment may be lost: their rows are all that is left.
    """
    again = records.select(
        records["topic"].alias("_topic"),
        records["partition"].alias("_partition"),
        records["offset"].alias("_offset"),
    )
    if again.count() == span_of(reading.ranges):
        return None
    stored = spark.read.format("delta").load(uri).where(rows_of(reading))
    return stored.join(again, ["_topic", "_partition", "_offset"], "left_anti")
