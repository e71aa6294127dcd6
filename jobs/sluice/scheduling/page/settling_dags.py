"""Settling DAGs: the DAGs in Airflow that have a pipeline's tasks, its own or those of a team."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from airflow.models.asset import AssetModel, TaskOutletAssetReference
from airflow.models.dag import DagModel
from airflow.utils.session import create_session
from sqlalchemy import select

from sluice.scheduling.assets import asset_name
from sluice.spec_file.pipeline_spec import PipelineSpec


@dataclass(frozen=True)
class SettlingDag:
    """A DAG, and what comes before the ids of the pipeline's tasks in it: a group and a dot.

    `is_paused`: Airflow starts no run of it by itself.
    """

    dag_id: str
    group: str = ""
    is_paused: bool = field(default=False, compare=False)

    def is_own(self, pipeline: str) -> bool:
        """Whether it is the pipeline's own DAG, which has the form to read again."""
        return self == SettlingDag(pipeline)


def settling_dags(specs: Iterable[PipelineSpec]) -> Mapping[str, tuple[SettlingDag, ...]]:
    """Those of each pipeline, its own first; if Airflow knows none yet, its own.

    They are the DAGs with a task that writes the asset of the pipeline's table.
    """
    pipelines = {asset_name(spec.table): spec.pipeline for spec in specs}
    known = (
        select(
            AssetModel.name,
            TaskOutletAssetReference.dag_id,
            TaskOutletAssetReference.task_id,
            DagModel.is_paused,
        )
        .join(AssetModel, AssetModel.id == TaskOutletAssetReference.asset_id)
        .join(DagModel, DagModel.dag_id == TaskOutletAssetReference.dag_id)
        .where(AssetModel.name.startswith(asset_name("")), ~DagModel.is_stale)
        .distinct()
    )
    found: dict[str, set[SettlingDag]] = {each: set() for each in pipelines.values()}
    with create_session() as session:
        for name, dag_id, task_id, is_paused in session.execute(known):
            group, dot, _ = task_id.rpartition(".")
            if name in pipelines:
                found[pipelines[name]].add(SettlingDag(dag_id, f"{group}{dot}", is_paused))
    return {
        pipeline: tuple(
            sorted(dags, key=lambda dag: (not dag.is_own(pipeline), dag.dag_id, dag.group))
        )
        or (SettlingDag(pipeline),)
        for pipeline, dags in found.items()
    }


def pipelines_named(
    name: str, dags: Mapping[str, tuple[SettlingDag, ...]]
) -> dict[str, SettlingDag]:
    """The pipeline of this name, or all in the DAG of this name; each with a DAG of its runs.

    `dags` are those of all pipelines. Airflow opens the page from a DAG by the DAG's name.
    """
    if name in dags:
        return {name: dags[name][0]}
    return {
        pipeline: each for pipeline, those in dags.items() for each in those if each.dag_id == name
    }
