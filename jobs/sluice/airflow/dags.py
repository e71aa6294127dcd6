"""DAGs of a folder of specs, for the namespace of a DAG file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path

from airflow.sdk import DAG, get_parsing_context

from sluice.airflow.given_folder import Folder, folder_of
from sluice.airflow.maintenance_dag import maintenance_dag
from sluice.airflow.pipeline_dag import pipeline_dag
from sluice.airflow.reset_dag import reset_dag
from sluice.airflow.topics_dag import topics_dag
from sluice.airflow.watch_dag import watch_dag
from sluice.errors import SpecError, as_lines
from sluice.spec_folder import SpecFolder, read_specs

log = logging.getLogger(__name__)

Builders = Mapping[str, Callable[[], DAG]]


def pipeline_dags(folder: Folder | None = None, *, without: Collection[str] = ()) -> dict[str, DAG]:
    """A DAG for each spec of the folder, and those of `operations_dags`, by their ids.

        globals().update(pipeline_dags("pipelines"))

    A spec with `{topic}` in its names has a DAG for each topic that `sluice_topics` has found.

    A relative folder begins at the folder of the DAG file; None is the one that `SLUICE_PIPELINES`
    names. `without` are ids of DAGs to leave out: pipelines whose tasks are in a DAG of your own.

    A refused spec has no DAG, and the others go on: the task of `sluice_watch` fails with its
    error, the page and the log of the DAG processor name it, and `check_dags` in another file
    shows it among Airflow's import errors. A task builds its own DAG only.
    """
    specs = folder_of(folder)
    found = read_specs(specs)
    for problem in found.refused.values():
        log.error("No DAG: %s", problem)
    builders = {
        spec.pipeline: partial(pipeline_dag, spec, path, made=path in found.made)
        for path, spec in found.accepted.items()
    }
    return _built({**builders, **_operations(found, specs)}, without)


def operations_dags(
    folder: Folder | None = None, *, without: Collection[str] = ()
) -> dict[str, DAG]:
    """`sluice_reset`, `sluice_maintenance` and `sluice_watch`, which are about all pipelines.

    And `sluice_topics`, where a spec makes a pipeline of each topic.

    For a DAG folder that has the pipelines only as `PipelineTasks`. The parameters are those of
    `pipeline_dags`, which returns these DAGs as well: an Airflow has one of each.
    """
    specs = folder_of(folder)
    return _built(_operations(read_specs(specs), specs), without)


def check_dags(folder: Folder | None = None) -> None:
    """Raise a SpecError with all refused specs of the folder, and with those that share a table.

    For a DAG file of its own, without DAGs: Airflow shows the error as that file's import error.
    It stops scheduling all DAGs of a file that has one: the file of `pipeline_dags` must not call
    this.
    """
    found = read_specs(folder_of(folder))
    if problems := [*found.refused.values(), *found.contested.values()]:
        raise SpecError(as_lines(map(str, problems)))


def _operations(found: SpecFolder, specs: Path) -> Builders:
    builders: dict[str, Callable[[], DAG]] = {}
    if accepted := list(found.accepted.values()):
        builders["sluice_reset"] = partial(reset_dag, accepted, specs)
        builders["sluice_maintenance"] = partial(maintenance_dag, accepted, specs)
    # A mistake in the only template must not take away the DAG that tells it.
    if found.templates or found.refused_templates:
        builders["sluice_topics"] = partial(topics_dag, specs)
    # Refused specs are a reason to call a person.
    if found.accepted or found.refused or found.templates:
        builders["sluice_watch"] = partial(watch_dag, specs)
    return builders


def _built(builders: Builders, without: Collection[str]) -> dict[str, DAG]:
    # A task needs its own DAG only, and building many takes longer than most tasks.
    wanted = get_parsing_context().dag_id
    return {
        dag_id: build()
        for dag_id, build in builders.items()
        if dag_id not in without and wanted in (None, dag_id)
    }
