"""Assets: a pipeline's data and state tables, as other DAGs can wait for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow.sdk import Asset, AssetAlias

from sluice.scheduling.deployment import project_settings
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse, is_on_s3

STATE = "__state"


def asset_name(table: str) -> str:
    """The name of a data table's asset; the prefix keeps it apart from the assets of others."""
    return f"sluice/{table}"


def data_table(spec: PipelineSpec) -> Asset:
    """The data table, with its URI and what is read into it, as other DAGs can wait for it."""
    read: dict[str, Any] = (
        {"topics": list(spec.topics)} if spec.topics else {"topic_pattern": spec.topic_pattern}
    )
    place = Warehouse(project_settings().warehouse).data(spec.table)
    return _asset(asset_name(spec.table), place, {**_names(spec), **read})


def state_table(spec: PipelineSpec) -> Asset:
    """The state table, with its URI and its key."""
    place = Warehouse(project_settings().warehouse).state(spec.table)
    key: dict[str, Any] = {} if spec.state is None else {"key": list(spec.state.key)}
    return _asset(f"{asset_name(spec.table)}{STATE}", place, {**_names(spec), **key})


def state_events(spec: PipelineSpec) -> AssetAlias:
    """What a task has that may write an event for the state table, and need not if it succeeds."""
    return AssetAlias(f"{asset_name(spec.table)}{STATE}")


def _names(spec: PipelineSpec) -> dict[str, Any]:
    return {"pipeline": spec.pipeline, "table": spec.table}


def _asset(name: str, place: str, extra: dict[str, Any]) -> Asset:
    uri = place if is_on_s3(place) else Path(place).as_uri()
    return Asset(name, uri, extra=extra)
