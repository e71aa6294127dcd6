"""Waiting until a pipeline's table is complete, in the DAG that is open."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sluice.airflow.given_folder import Folder, folder_of
from sluice.scheduling.sensors import CompleteSensor
from sluice.spec_folder import find_spec


def wait_until_complete(
    pipeline: str,
    specs: Folder | None = None,
    *,
    until: datetime | str | None = None,
    task_id: str = "wait_until_complete",
    **task: Any,
) -> CompleteSensor:
    """A task that waits until a pipeline's data table has all that Kafka showed before a moment.

        with DAG("orders_daily", schedule="@daily"):
            wait_until_complete("orders", specs="pipelines") >> report()

    `specs` is the folder of specs, as for `PipelineTasks`. `until` is a moment, or a template of
    one (`"{{ data_interval_end }}"`); by default the end of the run's data interval, or where it
    has none, the moment that the run was due. The other arguments are those of a sensor: it looks
    every minute (`poke_interval`) without keeping a slot in between (`mode`), for a week
    (`timeout`). Its XCom is the moment until which the table is complete.

    Raises SpecError if the pipeline has no valid spec.
    """
    spec = find_spec(folder_of(specs), pipeline)
    return CompleteSensor(spec=spec, until=until, task_id=task_id, **task)
