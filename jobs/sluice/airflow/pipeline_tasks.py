"""Pipeline tasks: a pipeline as a task group, before or behind other tasks of any DAG."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from airflow.sdk import TaskGroup

from sluice.airflow.given_folder import Folder, folder_of
from sluice.airflow.steps import add_steps, default_args
from sluice.errors import SettingsError
from sluice.scheduling.operators import IngestOperator
from sluice.scheduling.run_notes import REFRESH, TASKS
from sluice.scheduling.run_params import asked_by_interval
from sluice.spec_folder import find_spec_file


class PipelineTasks(TaskGroup):
    """`plan`, `ingest` and `settle` of one pipeline, in the DAG that is open.

    Where the spec has a state table, `refresh` is beside `settle`.

        with DAG("orders_daily", schedule="@daily"):
            PipelineTasks("orders", specs="pipelines") >> report()

    `name` is the pipeline's, as its spec has it. `specs` is the folder of specs: a relative one
    begins at the folder of the DAG file, None is the one that `SLUICE_PIPELINES` names. The other
    arguments are those of a task group; `group_id` is the pipeline's name by default.

    A run reads what is new. A backfill run whose data interval has a length reads the records of
    that interval again. The DAG's parameters are not read.

    The tasks behind the group run if something new has landed, and are skipped otherwise; with the
    trigger rule `none_failed` they run either way. `refresh` does not skip them; if it fails, they
    do not run. The tasks are retried as those of a pipeline's own DAG are, unless `default_args` of
    the DAG or of the group say otherwise.

    Raises SpecError if the pipeline has no valid spec, and SettingsError where its tasks could not
    find each other: an import error of the DAG file.
    """

    def __init__(
        self,
        name: str,
        specs: Folder | None = None,
        *,
        group_id: str | None = None,
        **group: Any,
    ) -> None:
        path, spec = find_spec_file(folder_of(specs), name)
        super().__init__(
            group_id=group_id or spec.pipeline, **{"tooltip": spec.description, **group}
        )
        decided = {**default_args(spec), **self.dag.default_args, **self.default_args}
        self.default_args = {key: decided[key] for key in default_args(spec)} | self.default_args
        self._require_place(spec.pipeline)
        with self:
            add_steps(spec, path.parent, asked_by_interval)
        steps = TASKS if spec.state is not None else [each for each in TASKS if each != REFRESH]
        self._require_ids(spec.pipeline, steps)

    def _require_place(self, pipeline: str) -> None:
        where = f"PipelineTasks({pipeline!r})"
        if next(self.iter_mapped_task_groups(), None):
            raise SettingsError(
                f"{where}: found it in a mapped task group, whose copies would read the same"
                " records. Write one group for each pipeline."
            )
        for each in self.dag.tasks:
            if isinstance(each, IngestOperator) and each.spec.pipeline == pipeline:
                raise SettingsError(
                    f"{where}: expected its tasks once in the DAG {self.dag.dag_id!r}, found also"
                    f" {each.task_id!r}. A run reads what is new once."
                )

    def _require_ids(self, pipeline: str, steps: Iterable[str]) -> None:
        expected = [str(self.child_id(step)) for step in steps]  # type: ignore[no-untyped-call]
        if found := sorted({*self.children} - {*expected}):
            raise SettingsError(
                f"PipelineTasks({pipeline!r}): expected the task ids {', '.join(expected)}, found"
                f" {', '.join(found)}: another task of the DAG has the same id. Leave"
                " prefix_group_id out."
            )
