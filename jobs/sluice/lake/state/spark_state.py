"""The state table of one pipeline, written with Spark: one commit for a span of the log."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from sluice.derived.written_values import text_of
from sluice.failpoints import reach
from sluice.lake.batch_commit import naming_conflicts
from sluice.lake.decoding_functions import require_decoding
from sluice.lake.port import Difference, StateAttempt
from sluice.lake.state.both_tables import BothTables
from sluice.lake.state.differing_keys import differing_keys
from sluice.lake.state.key_filter import key_filter
from sluice.lake.state.log_rows import table_at
from sluice.lake.state.session_apart import committing, session_apart, telling
from sluice.lake.state.state_creation import create_state_table
from sluice.lake.state.state_rows import FEW, Made, StateRows
from sluice.lake.state.truncations import with_truncations
from sluice.lake.table_alignment import property_list
from sluice.progress.resources import PipelineResources
from sluice.state_table.collected import COLLECTED, Collected
from sluice.state_table.commits import StateCollection, StateCommit, app_id
from sluice.state_table.counts import StateCounts


@contextmanager
def spark_state(spark: SparkSession, resources: PipelineResources) -> Iterator[SparkState]:
    """The state table, in a session of its own.

    Raises SettingsError if Spark lacks our functions.
    """
    with session_apart(spark, resources.spec) as apart:
        require_decoding(apart, resources.spec)
        yield SparkState(apart, resources)


@dataclass(frozen=True)
class SparkState:
    """Implements the port `StateLake`."""

    spark: SparkSession
    resources: PipelineResources

    def create(self) -> None:
        """Create the table without rows, unless it exists."""
        create_state_table(self.spark, self.resources.state.uri, self.resources)

    def follow(self, attempt: StateAttempt) -> StateCounts:
        """Make the one commit of a span; none if no row of the table changes."""
        tables = with_truncations(self._tables(attempt))
        attempt = tables.attempt
        with naming_conflicts():
            rows, counts = _made(tables)
            reach("state computed")
            if attempt.span.kind == "everything":
                self._overwrite(rows, attempt.commit.counted(counts))
            elif counts.changed or attempt.gives_columns:
                self.resources.state.snapshot().require_at(attempt.commit.after)
                self._merge(rows, tables, counts)
        return counts

    def foresee(self, attempt: StateAttempt) -> StateCounts:
        """What `follow` would do; nothing is written."""
        return _made(with_truncations(self._tables(attempt)))[1]

    def differing(self, attempt: StateAttempt, most: int) -> Difference:
        """The keys that have another row than the log says, and so many of them by name."""
        tables = self._tables(attempt.from_everything(None))
        return differing_keys(with_truncations(tables), most)

    def deleted(self, version: int) -> int:
        """How many deleted keys that version of the state table has: they wait to be collected."""
        return table_at(self.spark, self.resources.state.uri, version).where("_deleted").count()

    def collect(self, collected: Collected, told: StateCollection) -> int:
        """Take the rows of deleted keys below these offsets away; how many they are."""
        uri = self.resources.state.uri
        below = " OR ".join(
            f"(_topic_id = {text_of(topic_id).sql} AND _offset < {end})"
            for topic_id, end in collected.ends.items()
        )
        gone = f"_deleted AND ({below or 'false'})"
        rows = self.spark.read.format("delta").load(uri).where(gone).count()
        if rows:
            said = property_list({COLLECTED: collected.text})
            with naming_conflicts():
                self.spark.sql(f"ALTER TABLE delta.`{uri}` SET TBLPROPERTIES ({said})").collect()
                reach("keys to collect")
                with telling(self.spark, told.text):
                    self.spark.sql(f"DELETE FROM delta.`{uri}` WHERE {gone}").collect()
        return rows

    def _tables(self, attempt: StateAttempt) -> BothTables:
        uris = self.resources.data.uri, self.resources.state.uri
        return BothTables(self.spark, *uris, attempt)

    def _merge(self, rows: DataFrame, tables: BothTables, counts: StateCounts) -> None:
        """Rows of an appended span are compared once more, with the table that is written to."""
        attempt, order, view = tables.attempt, tables.order, f"state_{uuid.uuid4().hex}"
        newer = f" AND {order.of('s')} >= {order.of('t')}"
        is_newer = newer if attempt.span.kind == "appended" else ""
        evolving = "WITH SCHEMA EVOLUTION " if attempt.gives_columns else ""
        told, on = attempt.commit.counted(counts), order.same_key("t", "s")
        if counts.changed <= FEW:
            on += f" AND {key_filter(rows, attempt.rules.key, counts.changed, 't')}"
        rows.createOrReplaceTempView(view)
        try:
            with committing(self.spark, self._app_id, told.data_version, told.text):
                self.spark.sql(
                    f"MERGE {evolving}INTO delta.`{self.resources.state.uri}` AS t"
                    f" USING {view} AS s ON {on}"
                    " WHEN MATCHED AND s._deleted IS NULL THEN DELETE"
                    f" WHEN MATCHED{is_newer} THEN UPDATE SET *"
                    " WHEN NOT MATCHED AND s._deleted IS NOT NULL THEN INSERT *"
                ).collect()
        finally:
            self.spark.catalog.dropTempView(view)

    def _overwrite(self, rows: DataFrame, told: StateCommit) -> None:
        (
            rows.write.format("delta")
            .mode("overwrite")
            .option("overwriteSchema", "true")
            .option("txnAppId", self._app_id)
            .option("txnVersion", str(told.data_version))
            .option("userMetadata", told.text)
            .save(self.resources.state.uri)
        )

    @property
    def _app_id(self) -> str:
        return app_id(self.resources.spec.pipeline)


def _made(tables: BothTables) -> Made:
    made, kind = StateRows(tables), tables.attempt.span.kind
    if kind == "everything":
        return made.everything()
    return made.appended() if kind == "appended" else made.rewritten()
