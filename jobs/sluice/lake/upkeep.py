"""Upkeep of one pipeline's tables, with Spark."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from pyspark.sql import SparkSession

from sluice.errors import CommitConflict, SparkFailed
from sluice.lake.batch_commit import naming_conflicts
from sluice.lake.port import Compacted, StateLake
from sluice.lake.spark_message import spark_message
from sluice.offsets.quarantined import BatchOffsets
from sluice.progress.resources import PipelineResources

_STRETCHES = "batch STRING, topic_id STRING, number INT, first BIGINT, behind BIGINT"


@contextmanager
def _naming_failures(step: str) -> Iterator[None]:
    """Turn whatever stops Spark into SparkFailed, except a CommitConflict."""
    try:
        with naming_conflicts():
            yield
    except CommitConflict:
        raise
    except Exception as problem:
        raise SparkFailed(f"{step}: Spark stopped: {spark_message(problem)}") from problem


class SparkUpkeep:
    """Implements the port `Upkeep`."""

    def __init__(self, spark: SparkSession, resources: PipelineResources) -> None:
        self._spark = spark
        self._resources = resources
        self._quarantine = resources.quarantine.uri

    def state(self) -> AbstractContextManager[StateLake]:
        """What writes the state table, while the block lasts."""
        from sluice.lake.state.spark_state import spark_state

        return spark_state(self._spark, self._resources)

    def remove_quarantined(self, rows: Sequence[BatchOffsets]) -> None:
        """Delete rows from the quarantine table, in one commit."""
        listed = [
            (
                each.batch,
                each.topic_id,
                each.offsets.partition.partition,
                each.offsets.start,
                each.offsets.end,
            )
            for each in rows
        ]
        # A join, not a predicate: there may be very many rows.
        gone, view = self._spark.createDataFrame(listed, _STRETCHES), f"gone_{uuid.uuid4().hex}"
        # In SQL: Delta's own classes need an extension that a Spark Connect server may lack.
        with _naming_failures(f"{self._quarantine}: removing rows"):
            gone.createOrReplaceTempView(view)
            try:
                self._spark.sql(
                    f"MERGE INTO delta.`{self._quarantine}` AS stored USING {view} AS gone"
                    " ON stored._batch = gone.batch AND stored._topic_id = gone.topic_id"
                    " AND stored._partition = gone.number"
                    " AND stored._offset >= gone.first AND stored._offset < gone.behind"
                    " WHEN MATCHED THEN DELETE"
                ).collect()
            finally:
                self._spark.catalog.dropTempView(view)

    def compact(self, uri: str) -> Compacted:
        """Rewrite a table's small files as a few large ones; no row changes."""
        return self._rewrite(f"{uri}: OPTIMIZE", f"OPTIMIZE delta.`{uri}`")

    def purge(self, uri: str) -> Compacted:
        """Rewrite a table's files with deleted rows without those; no row changes."""
        return self._rewrite(f"{uri}: REORG", f"REORG TABLE delta.`{uri}` APPLY (PURGE)")

    def vacuum(self, uri: str) -> None:
        """Delete files that the table has not referenced for its retention."""
        with _naming_failures(f"{uri}: VACUUM"):
            self._spark.sql(f"VACUUM delta.`{uri}`").collect()

    def _rewrite(self, step: str, statement: str) -> Compacted:
        with _naming_failures(step):
            (done,) = self._spark.sql(statement).collect()
        return Compacted(done["metrics"]["numFilesRemoved"], done["metrics"]["numFilesAdded"])
