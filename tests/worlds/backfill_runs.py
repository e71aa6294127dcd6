"""Backfills in a real Airflow: hourly intervals, requested by REST, and what they plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from deltalake import DeltaTable

from local.embedded.airflow_client import AirflowApiError, DagRun
from local.embedded.waiting import until
from tests.worlds.deployment import RUN_SECONDS, Deployment
from tests.worlds.records import group_positions

DAY = datetime(2024, 1, 5, tzinfo=UTC)
# Only the hours of that date: Airflow schedules no further run while the tests run.
HOURLY: dict[str, object] = {"schedule": "0 * 5 1 *"}

Range = tuple[int, int]


def hour(number: float) -> datetime:
    return DAY + timedelta(hours=number)


def stamps(first: int, last: int, each: int = 4) -> Iterator[int]:
    """So many an hour in each partition; the clock behind the odd ones of partition 1 is fast."""
    for number in range(first * each, last * each):
        for fast in (0, number % 2):
            yield int(hour(number / each + fast).timestamp() * 1000)


def landed(deployment: Deployment, records: int, at: Iterator[int]) -> Deployment:
    """What there is was landed by its first scheduled run."""
    deployment.produce(records, at)
    deployment.unpause()
    deployment.first_run()
    return deployment


def run_of_hour(number: int) -> str:
    return f"backfill__{hour(number + 1).isoformat()}"


def backfill(to: Deployment, first: int, last: int, **more: Any) -> int:
    """Request the hours from the first to the last one."""
    span = [hour(number).isoformat() for number in (first, last)]
    return created(to, lambda: to.client.backfill(to.pipeline, *span, **more))


def created(to: Deployment, ask: Callable[[], int]) -> int:
    """Request again if SQLite, with its one writer at a time, left a backfill without runs.

    Or if Airflow noticed just now that the backfill before is over.
    """

    def attempt() -> int:
        try:
            the_one_before_is_over(to)
            return ask()
        except AirflowApiError as refused:
            if ": 409 " not in str(refused):
                raise
            return 0

    return until(attempt, "a backfill", RUN_SECONDS)


def the_one_before_is_over(deployment: Deployment) -> None:
    """Airflow checks every 30 seconds which backfills are over; here, as soon as their runs are."""
    query = {"dag_id": deployment.pipeline}
    for each in deployment.client.request("GET", "/backfills", params=query)["backfills"]:
        if each["completed_at"] is None:
            until(deployment.all_runs, "the end of all runs", RUN_SECONDS, 1)
            deployment.client.change_backfill(each["id"], "cancel")


def run_of(to: Deployment, number: int) -> DagRun:
    return to.client.run(DagRun(to.pipeline, run_of_hour(number), "asked for"))


def planned(by: Deployment, run: DagRun | str) -> dict[int, Range]:
    """Partition → what this run was the first to plan."""
    name = run if isinstance(run, str) else run.run_id
    rows = [row for row in by.offsets("planned") if row["run_id"] == name]
    return {row["partition"]: (row["start_offset"], row["end_offset"]) for row in rows}


def contents(of: Deployment) -> list[tuple[int, int, bytes]]:
    rows = DeltaTable(of.data).to_pyarrow_table().to_pylist()
    return sorted((row["_partition"], row["_offset"], row["value"]) for row in rows)


def position(of: Deployment) -> list[int]:
    return group_positions(of.broker.bootstrap, f"sluice-{of.pipeline}", of.pipeline, 2)
