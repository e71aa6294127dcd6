"""The data and quarantine tables: created once, then written one commit a batch."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from sluice.lake.batch_rows import DATA_COLUMNS, QUARANTINE_COLUMNS
from sluice.planning.batches import Batch
from sluice.spec import PipelineSpec
from sluice.tables.data_log import OWNER, batch_metadata

log = logging.getLogger(__name__)

# Statistics on a few columns of each kind: ours locate a batch, the first of theirs serve analysts.
_OUR_STATISTICS = ["_topic_id", "_partition", "_offset", "_timestamp", "_batch"]
_THEIR_STATISTICS = 16
_COMPARED = {
    "STRING",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DATE",
    "TIMESTAMP",
}


def create_data_table(spark: SparkSession, uri: str, spec: PipelineSpec) -> None:
    """Create the data table unless it is there."""
    declared = ", ".join(f"`{each.name}` {each.type}" for each in spec.columns)
    counted = [each.name for each in spec.columns if str(each.type) in _COMPARED]
    statistics = [name for name in counted if name not in spec.partition_by][:_THEIR_STATISTICS]
    _create(spark, uri, f"{declared}, {DATA_COLUMNS}", spec, _layout(spec), statistics)


def create_quarantine_table(spark: SparkSession, uri: str, spec: PipelineSpec) -> None:
    """Create the quarantine table unless it is there."""
    _create(spark, uri, QUARANTINE_COLUMNS, spec)


def append_batch(rows: DataFrame, uri: str, batch: Batch) -> None:
    """Make the one commit to the data table that carries the batch's transaction id and ranges.

    Delta skips the write silently when the batch was committed before: read the log afterwards.
    """
    (
        rows.write.format("delta")
        .mode("append")
        .option("txnAppId", batch.sequence.app_id)
        .option("txnVersion", str(batch.number))
        .option("userMetadata", batch_metadata(batch))
        .option("mergeSchema", "true")
        .save(uri)
    )


def replace_quarantined(rows: DataFrame, uri: str, batch: Batch) -> None:
    """Make the batch's rows of the quarantine table these ones, and touch no others."""
    (
        rows.write.format("delta")
        .mode("overwrite")
        .option("replaceWhere", f"_batch = '{batch}'")
        .option("userMetadata", batch_metadata(batch))
        .save(uri)
    )


def _create(
    spark: SparkSession,
    uri: str,
    columns: str,
    spec: PipelineSpec,
    layout: str = "",
    statistics: Sequence[str] = (),
) -> None:
    properties = {
        OWNER: spec.pipeline,
        "sluice.version": "1",
        "delta.dataSkippingStatsColumns": ",".join([*_OUR_STATISTICS, *statistics]),
    }
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    _until_there(
        spark,
        f"CREATE TABLE IF NOT EXISTS delta.`{uri}` ({columns}) USING delta {layout}"
        f" TBLPROPERTIES ({listed})",
    )


def _until_there(spark: SparkSession, create: str) -> None:
    # Two that create the same table at once: the second one fails, and finds it a moment later.
    for pause in (0.5, 1.0, 2.0):
        try:
            spark.sql(create)
            return
        except Exception as problem:
            log.info("a table was not created, trying again: %s", problem)
            time.sleep(pause)
    spark.sql(create)


def _layout(spec: PipelineSpec) -> str:
    for clause, names in (("PARTITIONED BY", spec.partition_by), ("CLUSTER BY", spec.cluster_by)):
        if names:
            return f"{clause} ({', '.join(f'`{name}`' for name in names)})"
    return ""
