"""Batch commits: one commit per batch, as an append or replacing the ranges' old rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F

from sluice.errors import CommitConflict, SpecError
from sluice.lake.port import BatchAttempt
from sluice.lake.predicate import rows_in_ranges
from sluice.lake.worker_errors import lack_of_workers
from sluice.offsets.ranges import span_of
from sluice.spec.pipeline_spec import PipelineSpec
from sluice.tables.batch_commits import batch_metadata


def append_batch(rows: DataFrame, uri: str, reading: BatchAttempt) -> None:
    """Make the one commit to the data table that carries the batch's transaction id and ranges.

    Delta silently skips the write if the batch is already committed (`hasBeenExecuted` in its
    DeltaCommand.scala): read the log afterwards.
    """
    _commit_of(reading, rows).mode("append").option("mergeSchema", "true").save(uri)


def retype_table(
    stored: DataFrame, rows: DataFrame, uri: str, reading: BatchAttempt, spec: PipelineSpec
) -> None:
    """The same for a table without rows, which takes these rows' types.

    `stored` is the table. If another batch has landed in it meanwhile, the write fails: it reads
    the table as its transaction does, and what lands after that is a conflict to Delta.
    """
    checked = rows.crossJoin(F.broadcast(_nothing_but_proof_of_no_rows(stored)))
    writer = _commit_of(reading, checked).mode("overwrite").option("overwriteSchema", "true")
    if spec.partition_by:
        writer = writer.partitionBy(*spec.partition_by)
    if spec.cluster_by:
        writer = writer.clusterBy(*spec.cluster_by)
    writer.save(uri)


def _nothing_but_proof_of_no_rows(stored: DataFrame) -> DataFrame:
    """One row without columns; whoever reads it fails if the table has rows."""
    counted = stored.agg(F.count(F.lit(1)).alias("rows"))
    landed = F.raise_error(F.lit(_ROWS_LANDED))
    return counted.where(F.when(counted["rows"] == 0, F.lit(True)).otherwise(landed)).select()


def replace_batch(rows: DataFrame, uri: str, reading: BatchAttempt) -> None:
    """The same in mode `replace`: one commit removes the ranges' old rows and adds these."""
    (
        _commit_of(reading, rows)
        .mode("overwrite")
        .option("replaceWhere", rows_in_ranges(reading))
        .option("mergeSchema", "true")
        .save(uri)
    )


def _commit_of(reading: BatchAttempt, rows: DataFrame) -> DataFrameWriter:
    """The writer of a commit that carries the batch's transaction id and ranges."""
    batch = reading.batch
    return (
        rows.write.format("delta")
        .option("txnAppId", batch.sequence.app_id)
        .option("txnVersion", str(batch.number))
        .option(
            "userMetadata",
            batch_metadata(batch, reading.attempt, reading.fingerprints, reading.spec),
        )
    )


def replace_quarantined(rows: DataFrame, uri: str, reading: BatchAttempt) -> None:
    """Replace the batch's rows of the quarantine table with these, and touch no others."""
    (
        rows.write.format("delta")
        .mode("overwrite")
        .option("replaceWhere", f"_batch = '{reading}'")
        .option("userMetadata", batch_metadata(reading.batch, reading.attempt))
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


def rows_to_keep(
    spark: SparkSession, uri: str, reading: BatchAttempt, records: DataFrame
) -> DataFrame | None:
    """The ranges' rows whose records Kafka no longer delivers; None where it delivers all.

    Compaction may have removed the records, or a segment is lost: only their rows are left.
    """
    again = records.select(
        records["topic"].alias("_topic"),
        records["partition"].alias("_partition"),
        records["offset"].alias("_offset"),
    )
    if again.count() == span_of(reading.ranges):
        return None
    stored = spark.read.format("delta").load(uri).where(rows_in_ranges(reading))
    return stored.join(again, ["_topic", "_partition", "_offset"], "left_anti")


_ROWS_LANDED = "SLUICE-ROWS-LANDED"
# The error conditions of Delta's DeltaConcurrentModificationException and its subclasses.
_CONFLICT = re.compile(r"\[(DELTA_(?:CONCURRENT_\w+|METADATA_CHANGED|PROTOCOL_CHANGED))[\w.]*\]")

# What pyspark says: its client is closed after the answer SESSION_CHANGED; a restarted server does
# not know the statement (pyspark's client/reattach.py); or nobody answers.
_LEFT_ALONE = {
    "NO_ACTIVE_SESSION": "has forgotten this session: it was restarted, or this process must end",
    "RESPONSE_ALREADY_RECEIVED": "has forgotten this statement: it was restarted",
    "RETRIES_EXCEEDED": "does not answer any more",
}
_WHERE_TO_LOOK = 'if that happens with each try: docs/reliability.md, "A Spark server"'
_SAID = re.compile(rf"\[({'|'.join(_LEFT_ALONE)})\]")


@contextmanager
def naming_conflicts() -> Iterator[None]:
    """Turn Delta's refusal into CommitConflict; name a lost server, and what a worker lacks."""
    try:
        yield
    except Exception as problem:
        if alone := _SAID.search(str(problem)):
            said = f"{alone[0]} the Spark server {_LEFT_ALONE[alone[1]]}; {_WHERE_TO_LOOK}"
            raise RuntimeError(said) from problem
        if lack := lack_of_workers(str(problem)):
            raise RuntimeError(f"[WORKERS] {lack}") from problem
        if _ROWS_LANDED in str(problem):
            raise CommitConflict("another batch gave the table its columns") from problem
        found = _CONFLICT.search(str(problem))
        if found:
            raise CommitConflict(f"another commit came in between ({found[1]})") from problem
        raise
