"""Assets: a pipeline's data table, as other DAGs can wait for it."""

from __future__ import annotations

from pathlib import Path

from airflow.sdk import Asset

from sluice.scheduling.deployment import project_settings
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse


def data_table(spec: PipelineSpec) -> Asset:
    """The data table, named `sluice/<table>`, with its URI and what is read into it."""
    tables = Warehouse(project_settings().warehouse)
    place = tables.data(spec.table)
    read = {"topics": list(spec.topics)} if spec.topics else {"topic_pattern": spec.topic_pattern}
    return Asset(
        f"sluice/{spec.table}",
        place if tables.on_s3 else Path(place).as_uri(),
        extra={"pipeline": spec.pipeline, "table": spec.table, **read},
    )
