"""The data and the state table of a pipeline, for DAGs that wait for new rows."""

from __future__ import annotations

from airflow.sdk import Asset

from sluice.airflow.given_folder import Folder, folder_of
from sluice.errors import SpecError
from sluice.scheduling import assets
from sluice.spec_folder import find_spec


def data_table(pipeline: str, specs: Folder | None = None) -> Asset:
    """The asset that a pipeline's `settle` updates, with its name, URI and `extra`.

        with DAG("orders_report", schedule=[data_table("orders", specs="pipelines")]):

    `specs` is the folder of specs, as for `PipelineTasks`. Airflow hands the events to a DAG that
    is scheduled on the asset itself; one that is scheduled on `Asset.ref(…)` starts without them
    (3.3.2, SchedulerJobRunner). Raises SpecError if the pipeline has no valid spec.
    """
    return assets.data_table(find_spec(folder_of(specs), pipeline))


def state_table(pipeline: str, specs: Folder | None = None) -> Asset:
    """The asset of a pipeline's state table, which its `refresh` updates; else as `data_table`.

    Raises SpecError also if the spec has no state table.
    """
    spec = find_spec(folder_of(specs), pipeline)
    if spec.state is None:
        raise SpecError(f"{pipeline}: state: expected the columns of the key, found no such key")
    return assets.state_table(spec)
