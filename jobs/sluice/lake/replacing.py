"""Replacing: which rows of the data table a batch that reads offsets again takes the place of."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from sluice.landing import Reading


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
    """The ranges' rows whose records compaction has removed since; None where nothing compacts."""
    if not reading.compacting:
        return None
    ids = [reading.batch.topic_ids[topic] for topic in reading.compacting]
    stored = spark.read.format("delta").load(uri).where(rows_of(reading))
    again = records.select(
        records["topic"].alias("_topic"),
        records["partition"].alias("_partition"),
        records["offset"].alias("_offset"),
    )
    compacted = stored.where(stored["_topic_id"].isin(ids))
    return compacted.join(again, ["_topic", "_partition", "_offset"], "left_anti")
