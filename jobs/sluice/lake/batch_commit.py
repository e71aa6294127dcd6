"""Batch commits: one commit per batch, as an append or replacing the ranges' old rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession, Window
from pyspark.sql import functions as F

from sluice.errors import SpecError
from sluice.lake.chosen_records import offsets_in
from sluice.lake.port import BatchAttempt
from sluice.lake.predicate import rows_in_ranges
from sluice.lake.reported_causes import causes_of
from sluice.lake.write_failures import meaning_of, rows_landed_mark
from sluice.offsets.quarantine_tickets import Ticket
from sluice.offsets.ranges import OffsetRange, TopicPartition, span_of
from sluice.offsets.receipts import Span
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.batch_commits import batch_metadata


def append_batch(rows: DataFrame, uri: str, attempt: BatchAttempt) -> None:
    """Make the one commit to the data table that carries the batch's transaction id and ranges.

    Delta silently skips the write if the batch is already committed (`hasBeenExecuted` in its
    DeltaCommand.scala): read the log afterwards.
    """
    _commit_of(attempt, rows).mode("append").option("mergeSchema", "true").save(uri)


def retype_table(
    stored: DataFrame, rows: DataFrame, uri: str, attempt: BatchAttempt, spec: PipelineSpec
) -> None:
    """The same for a table without rows, which takes these rows' types.

    `stored` is the table. If another batch has landed in it meanwhile, the write fails: it reads
    the table as its transaction does, and what lands after that is a conflict to Delta.
    """
    checked = rows.crossJoin(F.broadcast(_nothing_but_proof_of_no_rows(stored, attempt)))
    writer = _commit_of(attempt, checked).mode("overwrite").option("overwriteSchema", "true")
    if spec.partition_by:
        writer = writer.partitionBy(*spec.partition_by)
    if spec.cluster_by:
        writer = writer.clusterBy(*spec.cluster_by)
    writer.save(uri)


def _nothing_but_proof_of_no_rows(stored: DataFrame, attempt: BatchAttempt) -> DataFrame:
    """One row without columns; reading it fails if the table has rows."""
    counted = stored.agg(F.count(F.lit(1)).alias("rows"))
    landed = F.raise_error(F.lit(rows_landed_mark(attempt.id)))
    return counted.where(F.when(counted["rows"] == 0, F.lit(True)).otherwise(landed)).select()


def replace_batch(rows: DataFrame, uri: str, attempt: BatchAttempt) -> None:
    """The same in mode `replace`: one commit removes the ranges' old rows and adds these."""
    (
        _commit_of(attempt, rows)
        .mode("overwrite")
        .option("replaceWhere", rows_in_ranges(attempt))
        .option("mergeSchema", "true")
        .save(uri)
    )


def _commit_of(attempt: BatchAttempt, rows: DataFrame) -> DataFrameWriter:
    """The writer of a commit that carries the batch's transaction id and ranges."""
    batch = attempt.batch
    return (
        rows.write.format("delta")
        .option("txnAppId", batch.sequence.app_id)
        .option("txnVersion", str(batch.number))
        .option(
            "userMetadata",
            batch_metadata(
                batch,
                attempt.id,
                attempt.fingerprints,
                attempt.spec,
                attempt.aside,
                attempt.filtered,
                attempt.based_on,
            ),
        )
    )


def append_quarantined(rows: DataFrame, uri: str, attempt: BatchAttempt, ticket: Ticket) -> None:
    """Add the attempt's rows to the quarantine table, with its ticket as the transaction.

    As with a batch, Delta silently skips what comes too late: read the log afterwards.
    """
    (
        rows.write.format("delta")
        .mode("append")
        .option("txnAppId", ticket.app_id)
        .option("txnVersion", str(ticket.number))
        .option("userMetadata", batch_metadata(attempt.batch, attempt.id))
        .save(uri)
    )


def is_type_change(problem: AnalysisException) -> bool:
    """Whether a write was refused because a column of the table has another type."""
    return problem.getCondition() == "DELTA_FAILED_TO_MERGE_FIELDS"


def require_no_rows(stored: DataFrame, rows: DataFrame, uri: str) -> None:
    """Raises SpecError where the table has rows; only an empty one may take new types."""
    if stored.isEmpty():
        return
    now = {field.name: field.dataType.simpleString().upper() for field in rows.schema}
    before = {field.name: field.dataType.simpleString().upper() for field in stored.schema}
    changed = [
        f"{name}: expected {kind} as in the rows of {uri}, found {now[name]}"
        for name, kind in before.items()
        if now.get(name, kind) != kind
    ]
    raise SpecError(
        f"format: schema: {'; '.join(changed)}. Give the column its type back, or choose a new"
        " `table` and `pipeline`."
    )


def undelivered(
    spark: SparkSession, uri: str, attempt: BatchAttempt, records: DataFrame
) -> DataFrame | None:
    """Where the ranges have rows whose records are not read again; None where all are.

    Compaction may have removed the records, or a segment is lost: only their rows are left. Or the
    batch may not change them. It is found once, so that what is looked up and what is kept are the
    same.
    """
    again = records.select(
        records["topic"].alias("_topic"),
        records["partition"].alias("_partition"),
        records["offset"].alias("_offset"),
    )
    if again.count() == span_of(attempt.ranges):
        return None
    stored = spark.read.format("delta").load(uri).where(rows_in_ranges(attempt)).select(*_PLACE)
    return stored.join(again, list(_PLACE), "left_anti").distinct().localCheckpoint()


def spans_of(places: DataFrame) -> dict[TopicPartition, list[Span]]:
    """Each partition's offsets, as ascending ranges."""
    in_order = Window.partitionBy("_topic", "_partition").orderBy("_offset")
    runs = places.withColumn("run", places["_offset"] - F.row_number().over(in_order))
    ranges = runs.groupBy("_topic", "_partition", "run").agg(
        F.min("_offset").alias("first"), F.max("_offset").alias("last")
    )
    found: dict[TopicPartition, list[Span]] = {}
    for row in ranges.orderBy("_topic", "_partition", "first").collect():
        partition = TopicPartition(row["_topic"], row["_partition"])
        found.setdefault(partition, []).append((row["first"], row["last"] + 1))
    return found


def rows_that_stay(
    spark: SparkSession,
    uri: str,
    attempt: BatchAttempt,
    places: DataFrame,
    besides: Sequence[OffsetRange],
) -> DataFrame:
    """The ranges' rows at these places, except at some offsets."""
    stored = spark.read.format("delta").load(uri).where(rows_in_ranges(attempt))
    kept = stored.join(places, list(_PLACE), "left_semi")
    if attempt.batch.only is not None:
        # It takes them over as they are.
        return kept.withColumn("_batch", F.lit(str(attempt)))
    if not besides:
        return kept
    return kept.join(offsets_in(spark, besides, _PLACE), list(_PLACE), "left_anti")


_PLACE = ("_topic", "_partition", "_offset")


@contextmanager
def naming_conflicts(attempt: str | None = None) -> Iterator[None]:
    """Turn Delta's refusal into CommitConflict; name a lost server, and what a worker lacks."""
    try:
        yield
    except Exception as problem:
        if meant := meaning_of(causes_of(problem), attempt):
            raise meant from problem
        raise
