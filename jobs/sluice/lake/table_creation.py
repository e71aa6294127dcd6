"""Table creation: the data and quarantine tables, created once."""

from __future__ import annotations

import logging
import operator
from collections.abc import Mapping

from pyspark.sql import SparkSession
from tenacity import (
    RetryError,
    Retrying,
    retry_if_result,
    stop_after_attempt,
    wait_chain,
    wait_fixed,
)

from sluice.columns.names import quoted
from sluice.lake.batch_rows import QUARANTINE_COLUMNS, stored_part
from sluice.lake.column_list import column_list
from sluice.lake.table_alignment import property_list
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.statistics_columns import statistics_columns
from sluice.spec_file.table_properties import wanted_properties
from sluice.tables.delta_log import DeltaLog
from sluice.tables.ownership import OWNER
from sluice.tables.quarantine_creation import QUARANTINE_STATISTICS
from sluice.tables.storage import clear_leftovers
from sluice.tables.warehouse import as_aws_has_it, is_on_s3

log = logging.getLogger(__name__)
_STATISTICS = "delta.dataSkippingStatsColumns"


def create_data_table(spark: SparkSession, uri: str, spec: PipelineSpec) -> None:
    """Create the data table unless it exists.

    Raises SpecError for a derived column that Spark refuses.
    """
    shape, ours = spec.shape, spec.formats.our_columns
    if shape.derived:
        whole = ", ".join(f"{quoted(each.name)} {each.type}" for each in (*shape.fields, *ours))
        stored_part(spark.createDataFrame([], whole), shape)
    columns = column_list((*shape.columns, *ours), spec.comments)
    statistics = {_STATISTICS: ",".join(map(quoted, statistics_columns(shape)))}
    _create(
        spark,
        uri,
        columns,
        _ours(spec) | statistics | wanted_properties(spec.evolution, spec.properties),
        _layout(spec),
    )


def create_quarantine_table(spark: SparkSession, uri: str, spec: PipelineSpec) -> None:
    """Create the quarantine table unless it exists."""
    statistics = {_STATISTICS: QUARANTINE_STATISTICS}
    _create(spark, uri, QUARANTINE_COLUMNS, _ours(spec) | statistics)


def _ours(spec: PipelineSpec) -> dict[str, str]:
    return {OWNER: spec.pipeline, "sluice.version": "2"}


def _create(
    spark: SparkSession, uri: str, columns: str, properties: Mapping[str, str], layout: str = ""
) -> None:
    until_there(
        spark,
        uri,
        f"CREATE TABLE IF NOT EXISTS delta.`{uri}` ({columns}) USING delta {layout}"
        f" TBLPROPERTIES ({property_list(properties)})",
    )


def until_there(spark: SparkSession, uri: str, create: str) -> None:
    """Run a statement that creates a table until it is there; others may create it meanwhile."""
    failed: list[Exception] = []

    def is_there() -> bool:
        """Whether the table exists now; Spark alone would accept any folder of files."""
        if DeltaLog(uri).exists():
            return True
        clear_leftovers(uri)
        try:
            spark.sql(create)
        except Exception as problem:
            log.info("%s: the table was not created, trying again: %s", uri, problem)
            failed.append(problem)
        return DeltaLog(uri).exists()

    try:
        _again(is_there)
    except RetryError:
        raise (failed or [_occupied(uri)])[-1] from None


def _occupied(uri: str) -> FileExistsError:
    if is_on_s3(uri):
        return FileExistsError(
            f"{uri}: expected a Delta table, or nothing, found what an interrupted creation has"
            " left, or other files. Make sure that they are not needed, and remove them:"
            f" aws s3 rm --recursive {as_aws_has_it(uri)}/"
        )
    return FileExistsError(
        f"{uri}: expected a Delta table, or nothing, found other files. Move them away."
    )


# If two processes create the table at once, the second fails and finds it a moment later.
_again = Retrying(
    retry=retry_if_result(operator.not_),
    wait=wait_chain(*(wait_fixed(seconds) for seconds in (0.0, 0.5, 1.0, 2.0))),
    stop=stop_after_attempt(5),
)


def _layout(spec: PipelineSpec) -> str:
    for clause, names in (("PARTITIONED BY", spec.partition_by), ("CLUSTER BY", spec.cluster_by)):
        if names:
            return f"{clause} ({', '.join(map(quoted, names))})"
    return ""
