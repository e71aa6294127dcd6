"""State creation: the state table, made once, without rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession

from sluice.columns.columns import Column
from sluice.columns.names import quoted
from sluice.lake.column_list import column_list
from sluice.lake.table_alignment import property_list
from sluice.lake.table_creation import until_there
from sluice.progress.resources import PipelineResources
from sluice.progress.state_trust import require_rules
from sluice.spec_file.statistics_columns import has_bounds
from sluice.spec_file.table_properties import WIDENS_TYPES
from sluice.state_table.rules import StateRules
from sluice.tables.ownership import OWNER

_COORDINATES = ("_topic_id", "_partition", "_offset")


def create_state_table(spark: SparkSession, uri: str, resources: PipelineResources) -> None:
    """Create the state table of a pipeline's log, unless it exists."""
    spec, log = resources.spec, resources.data.snapshot()
    rules = require_rules(resources)
    columns = rules.columns(log.columns)
    widens = log.settings.properties.get(WIDENS_TYPES, "false")
    properties = {
        OWNER: spec.pipeline,
        "sluice.version": "2",
        # Without them a changed row would have its whole file written anew.
        "delta.enableDeletionVectors": "true",
        "delta.dataSkippingStatsColumns": ",".join(_statistics(rules, columns)),
        **({WIDENS_TYPES: widens} if widens == "true" else {}),
    }
    until_there(
        spark,
        uri,
        f"CREATE TABLE IF NOT EXISTS delta.`{uri}` ({column_list(columns, spec.comments)})"
        f" USING delta TBLPROPERTIES ({property_list(properties)})",
    )


def _statistics(rules: StateRules, columns: Iterable[Column]) -> Iterator[str]:
    """The columns by which a reader, or a MERGE, may pass over files: Delta refuses others."""
    known = {each.name for each in columns if has_bounds(each)}
    wanted = dict.fromkeys((*rules.key, *rules.order_by, *_COORDINATES))
    return (quoted(name) for name in wanted if name in known)
