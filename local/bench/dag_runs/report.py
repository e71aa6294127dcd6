"""The report of DAG runs: single ones, many at once, and who used the processor."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from local.bench.dag_runs.timed_runs import TASKS, TimedRun, Wave
from local.bench.figures import Shown, all_of


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


def single_runs(found: Sequence[Single]) -> Iterator[Shown]:
    """One line for each kind of run."""
    head = ("one DAG run", "median, s", "at most", "", *TASKS, "between", "all, s")
    lines = [
        (
            each.what,
            *_judged(statistics.median(run.seconds for run in each.runs), each.at_most),
            *(_median([run.seconds_of_tasks[name] for run in each.runs]) for name in TASKS),
            _median([run.between for run in each.runs]),
            all_of([run.seconds for run in each.runs], 1),
        )
        for each in found
        if each.runs
    ]
    if lines:
        yield Shown("From trigger to success; medians of the tasks' seconds", [head, *lines])


def many_runs(found: Sequence[Many]) -> Iterator[Shown]:
    """The waves, then the processor's time in each of them."""
    if not found:
        return
    what = (
        f"{found[0].pipelines} pipelines of {found[0].records_each:,} new records, and a broken one"
    )
    head = ("all at once", "all, s", "at most", "", "succeeded", "failed", "in tasks, s")
    lines = [
        (
            each.what,
            *_judged(each.wave.seconds, each.at_most),
            f"{each.wave.count('success')} of {each.pipelines}",
            f"{each.wave.count('failed')}",
            f"{each.wave.in_tasks:.1f}",
        )
        for each in found
    ]
    yield Shown(f"{what}: from the first trigger to the last end", [head, *lines])
    yield Shown(
        "Share of the cores meanwhile", [("part", *(each.what for each in found)), *_shares(found)]
    )


def _shares(found: Sequence[Many]) -> Iterator[Sequence[str]]:
    for part in found[0].used:
        yield (part, *(f"{each.used[part] / _all(each):.0%}" for each in found))
    rest = (1 - sum(each.used.values()) / _all(each) for each in found)
    yield ("idle, and all else on the machine", *(f"{share:.0%}" for share in rest))


def _all(many: Many) -> float:
    return many.wave.seconds * many.cores


def _judged(seconds: float, at_most: float | None) -> tuple[str, str, str]:
    if at_most is None:
        return f"{seconds:.1f}", "", ""
    return f"{seconds:.1f}", f"{at_most:.0f}", "met" if seconds <= at_most else "MISSED"


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.1f}"
