"""Both tables: the log and its state, as an attempt reads them."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from sluice.columns.columns import Column
from sluice.lake.port import StateAttempt
from sluice.lake.state.log_rows import log_at, log_in_files


@dataclass(frozen=True)
class BothTables:
    """The data table and the state table, by their URIs, and the attempt that reads them."""

    spark: SparkSession
    log_uri: str
    state_uri: str
    attempt: StateAttempt

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the state table at the end of the span."""
        return self.attempt.rules.columns(self.attempt.columns)

    @property
    def log_columns(self) -> tuple[Column, ...]:
        """Those that it has of the log."""
        return self.columns[:-1]

    def log(self) -> DataFrame:
        """The log's rows at the end of the span."""
        return log_at(self.spark, self.log_uri, self.attempt.span.upto, self.log_columns)

    def added(self) -> DataFrame:
        """The rows, at the end of the span, of the files that it added."""
        span = self.attempt.span
        return log_in_files(self.spark, self.log_uri, span.upto, self.log_columns, span.added)

    def removed(self) -> DataFrame:
        """The rows, before the span, of the files that it removed."""
        span = self.attempt.span
        return log_in_files(self.spark, self.log_uri, span.after, self.log_columns, span.removed)

    def state(self) -> DataFrame:
        """The state table as it is now."""
        return self.spark.read.format("delta").load(self.state_uri)

    def state_before(self) -> DataFrame:
        """The state table at the version that the attempt's commit is based on."""
        version = str(self.attempt.commit.state_version)
        at = self.spark.read.format("delta").option("versionAsOf", version)
        return at.load(self.state_uri)
