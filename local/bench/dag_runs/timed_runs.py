"""A timed DAG run: from its trigger to its end, and how much of that its tasks took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from local.embedded.airflow_client import AirflowClient, DagRun

TASKS = ("plan", "ingest", "settle")


@dataclass(frozen=True)
class TimedRun:
    """One finished run, by Airflow's own clock."""

    dag_id: str
    state: str
    queued: datetime
    ended: datetime
    states: Mapping[str, str | None]
    seconds_of_tasks: Mapping[str, float]

    @property
    def seconds(self) -> float:
        """From the trigger to the end."""
        return (self.ended - self.queued).total_seconds()

    @property
    def between(self) -> float:
        """What is not in a task: Airflow schedules, queues and starts them."""
        return self.seconds - sum(self.seconds_of_tasks.values())


@dataclass(frozen=True)
class Wave:
    """Runs that were triggered together."""

    runs: Sequence[TimedRun]

    @property
    def seconds(self) -> float:
        """From the first trigger to the last end."""
        last = max(run.ended for run in self.runs)
        return (last - min(run.queued for run in self.runs)).total_seconds()

    @property
    def in_tasks(self) -> float:
        """The seconds of all tasks together; several run at once."""
        return sum(sum(run.seconds_of_tasks.values()) for run in self.runs)

    def count(self, state: str) -> int:
        """How many ended like that."""
        return sum(run.state == state for run in self.runs)


def timed(client: AirflowClient, run: DagRun) -> TimedRun:
    """The finished run, as Airflow tells it."""
    told: Mapping[str, Any] = client.request("GET", run.path)
    tasks = client.tasks(run)
    return TimedRun(
        run.dag_id,
        told["state"],
        datetime.fromisoformat(told["queued_at"]),
        datetime.fromisoformat(told["end_date"]),
        {name: tasks[name].state for name in TASKS},
        {name: tasks[name].seconds or 0.0 for name in TASKS},
    )
