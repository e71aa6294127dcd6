"""Both tables: the log and its state, as an attempt reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from sluice.columns.columns import Column
from sluice.lake.port import StateAttempt
from sluice.lake.state.log_rows import log_at, log_in_files, table_at
from sluice.lake.state.order import Order
from sluice.state_table.rules import OF_A_KEY, TRUNCATES
from sluice.state_table.spans import FileBounds


@dataclass(frozen=True)
class BothTables:
    """The data table and the state table, by their URIs, and the attempt that reads them.

    The rows of the log are those of keys: of change events, all but truncations and messages. With
    `truncations` they are the truncations instead.
    """

    spark: SparkSession
    log_uri: str
    state_uri: str
    attempt: StateAttempt
    truncations: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the state table at the end of the span."""
        return self.attempt.rules.columns(self.attempt.columns)

    @property
    def log_columns(self) -> tuple[Column, ...]:
        """Those that it has of the log."""
        return self.columns[:-1]

    @property
    def order(self) -> Order:
        """Which row of a key is newer."""
        return Order(self.attempt.rules, self.attempt.ranks)

    def log(self) -> DataFrame:
        """The log's rows at the end of the span."""
        version = self.attempt.span.upto
        return self._told(log_at(self.spark, self.log_uri, version, self.log_columns))

    def added(self) -> DataFrame:
        """The rows, at the end of the span, of the files that it added."""
        span = self.attempt.span
        return self._in_files(span.upto, span.added)

    def removed(self) -> DataFrame:
        """The rows, before the span, of the files that it removed."""
        span = self.attempt.span
        return self._in_files(span.after, span.removed)

    def _in_files(self, version: int, files: Sequence[FileBounds]) -> DataFrame:
        return self._told(log_in_files(self.spark, self.log_uri, version, self.log_columns, files))

    def _told(self, rows: DataFrame) -> DataFrame:
        if not self.attempt.rules.of_events:
            return rows
        return rows.where(TRUNCATES if self.truncations else OF_A_KEY)

    def state_before(self) -> DataFrame:
        """The state table at the version that the attempt's commit is based on."""
        version = self.attempt.commit.state_version
        assert version is not None, "a table that is made anew is not read"
        return table_at(self.spark, self.state_uri, version)
