"""Assets: a pipeline's data table, as other DAGs can wait for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow.sdk import Asset

from sluice.scheduling.deployment import project_settings
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse


def asset_name(table: str) -> str:
    """The name of a data table's asset; the prefix keeps it apart from the assets of others."""
    return f"sluice/{table}"


def data_table(spec: PipelineSpec) -> Asset:
    """The data table, with its URI and what is read into it, as other DAGs can wait for it."""
    tables = Warehouse(project_settings().warehouse)
    place = tables.data(spec.table)
    read: dict[str, Any] = (
        {"topics": list(spec.topics)} if spec.topics else {"topic_pattern": spec.topic_pattern}
    )
    return Asset(
        asset_name(spec.table),
        place if tables.on_s3 else Path(place).as_uri(),
        extra={"pipeline": spec.pipeline, "table": spec.table, **read},
    )
