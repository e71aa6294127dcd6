"""Table alignment: the data table gets the properties and comments that its spec has now.

In commits of their own, which change no row. What the spec no longer has stays as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from pyspark.sql import SparkSession

from sluice.columns.names import quoted
from sluice.derived.written_values import text_of
from sluice.errors import CommitConflict
from sluice.lake.batch_commit import naming_conflicts
from sluice.lake.column_list import comment
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.table_properties import wanted_properties
from sluice.tables.stored_settings import stored_settings
from sluice.tables.table_files import open_table

log = logging.getLogger(__name__)


def align_data_table(spark: SparkSession, uri: str, spec: PipelineSpec) -> None:
    """Set what the table lacks.

    Where another commit comes in between, the next run does it: no batch waits for it.
    """
    wanted = wanted_properties(spec.evolution, spec.properties)
    if not (wanted or spec.comments):
        return
    found = stored_settings(open_table(uri))
    properties = found.lacking_properties(wanted)
    comments = found.lacking_comments(spec.comments)
    changes = [f"SET TBLPROPERTIES ({property_list(properties)})"] if properties else []
    changes += [f"ALTER COLUMN {quoted(name)}{comment(text)}" for name, text in comments.items()]
    try:
        with naming_conflicts():
            for change in changes:
                log.info("%s: ALTER TABLE %s", uri, change)
                spark.sql(f"ALTER TABLE delta.`{uri}` {change}").collect()
    except CommitConflict as problem:
        log.warning("%s: not changed, the next run tries again: %s", uri, problem)


def property_list(properties: Mapping[str, str]) -> str:
    """Properties, as Spark SQL lists them."""
    return ", ".join(f"'{key}' = {text_of(value).sql}" for key, value in properties.items())
