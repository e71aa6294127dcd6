"""The parts for DAG files: a DAG per spec, or a pipeline's tasks in a DAG of one's own.

docs/airflow.md shows both. The names are imported when they are used: Airflow reads the plugin and
the provider beside them in every process, and does without the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sluice.airflow.dags import check_dags, operations_dags, pipeline_dags
    from sluice.airflow.pipeline_tasks import PipelineTasks
    from sluice.airflow.table_asset import data_table, state_table
    from sluice.airflow.waiting import wait_until_complete

_MODULES = {
    "PipelineTasks": "pipeline_tasks",
    "check_dags": "dags",
    "data_table": "table_asset",
    "operations_dags": "dags",
    "pipeline_dags": "dags",
    "state_table": "table_asset",
    "wait_until_complete": "waiting",
}
__all__ = [
    "PipelineTasks",
    "check_dags",
    "data_table",
    "operations_dags",
    "pipeline_dags",
    "state_table",
    "wait_until_complete",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
