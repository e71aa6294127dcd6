"""The parts for DAG files: a DAG per spec, or a pipeline's tasks in a DAG of one's own.

docs/airflow.md shows both. The names are imported when they are used: Airflow reads the plugin and
the provider beside them in every process, and does without the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sluice.airflow.dags import check_dags, operations_dags, pipeline_dags
    from sluice.airflow.pipeline_tasks import PipelineTasks

__all__ = ["PipelineTasks", "check_dags", "operations_dags", "pipeline_dags"]


def __getattr__(name: str) -> Any:
    if name == "PipelineTasks":
        from sluice.airflow.pipeline_tasks import PipelineTasks

        return PipelineTasks
    if name in __all__:
        from sluice.airflow import dags

        return getattr(dags, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
