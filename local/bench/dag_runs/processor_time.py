"""Processor time: which part of the deployment has used how much of the cores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

import psutil

from local.embedded.airflow_processes import PROCESSES, Airflow
from local.embedded.broker import Broker
from local.embedded.spark_server import SparkServer

TASKS = "the runs' tasks"


def used_so_far(airflow: Airflow, server: SparkServer, broker: Broker) -> dict[str, float]:
    """Processor seconds by part, ended processes included. All four of Airflow's must run."""
    used: dict[str, float] = {}
    for name, guard in zip(PROCESSES, airflow.pids, strict=True):
        # A guard also adopts what others leave behind.
        main = min(psutil.Process(guard).children(), key=psutil.Process.create_time)
        if name == "scheduler":
            # With the LocalExecutor, all below the scheduler are workers and their tasks.
            used[name], below = _own(main), _ended(main)
            used[TASKS] = below + _whole(main.children(recursive=True))
        else:
            used[name] = _whole([main, *main.children(recursive=True)])
    used["Spark server"] = _whole(map(psutil.Process, server.pids))
    used["Kafka"] = _whole(map(psutil.Process, broker.pids))
    return used


def difference(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """What was used in between."""
    return {part: after[part] - before[part] for part in after}


def _own(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _ended(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.children_user + times.children_system)


def _whole(processes: Iterable[psutil.Process]) -> float:
    seconds = 0.0
    for each in processes:
        # What ends meanwhile is counted with its parent at the next look.
        with suppress(psutil.NoSuchProcess):
            seconds += _own(each) + _ended(each)
    return seconds
