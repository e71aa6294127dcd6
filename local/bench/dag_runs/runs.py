"""Finished DAG runs, single ones and waves: how long they took, and in which tasks."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from local.bench.figures import Shown, all_of, judged
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


@dataclass(frozen=True)
class Single:
    """Runs of one pipeline, one after the other; `at_most` is for the median, in seconds."""

    what: str
    at_most: float | None
    runs: list[TimedRun] = field(default_factory=list)


@dataclass(frozen=True)
class Many:
    """A wave of runs, and the processor seconds by part while it lasted."""

    what: str
    at_most: float | None
    cores: int
    pipelines: int
    records_each: int
    wave: Wave
    used: Mapping[str, float]

    def share(self, seconds: float) -> str:
        """Processor seconds as a part of what all cores had."""
        return f"{seconds / (self.wave.seconds * self.cores):.0%}"

    @property
    def idle(self) -> float:
        """The processor seconds that no part has used."""
        return self.wave.seconds * self.cores - sum(self.used.values())


def timed(client: AirflowClient, run: DagRun) -> TimedRun:
    """The finished run, as Airflow tells it."""
    told, tasks = client.request("GET", run.path), client.tasks(run)
    return TimedRun(
        run.dag_id,
        told["state"],
        datetime.fromisoformat(told["queued_at"]),
        datetime.fromisoformat(told["end_date"]),
        {name: tasks[name].state for name in TASKS},
        {name: tasks[name].seconds or 0.0 for name in TASKS},
    )


def single_runs(found: Sequence[Single]) -> Shown:
    """One line for each kind of run."""
    lines = []
    for each in found:
        seconds = [run.seconds for run in each.runs]
        parts = [[run.seconds_of_tasks[task] for run in each.runs] for task in TASKS]
        parts.append([run.between for run in each.runs])
        medians = (f"{statistics.median(part):.1f}" for part in parts)
        judgement = judged(seconds, each.at_most, 1, 0)
        lines.append((each.what, *judgement, *medians, all_of(seconds, 1)))
    head = ("one DAG run", "median, s", "at most", "", *TASKS, "between", "all, s")
    return Shown("From trigger to success; medians of the tasks' seconds", [head, *lines])


def many_runs(found: Sequence[Many]) -> list[Shown]:
    """One line for each wave, and the shares of each of them."""
    first = found[0]
    what = f"{first.pipelines} pipelines of {first.records_each:,} new records, and a broken one"
    head = ("all at once", "all, s", "at most", "", "succeeded", "failed", "in tasks, s")
    waves = [
        (
            each.what,
            *judged([each.wave.seconds], each.at_most, 1, 0),
            f"{each.wave.count('success')} of {each.pipelines}",
            f"{each.wave.count('failed')}",
            f"{each.wave.in_tasks:.1f}",
        )
        for each in found
    ]
    shares = [
        *((part, *(each.share(each.used[part]) for each in found)) for part in first.used),
        ("idle, and all else on the machine", *(each.share(each.idle) for each in found)),
    ]
    return [
        Shown(f"{what}: from the first trigger to the last end", [head, *waves]),
        Shown("Share of the cores meanwhile", [("part", *(each.what for each in found)), *shares]),
    ]
