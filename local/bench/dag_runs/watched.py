"""What is watched meanwhile: the processor time of each part, and who calls a silent port."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

import psutil

from local.embedded.airflow_processes import PROCESSES, Airflow
from local.embedded.broker import Broker
from local.embedded.guard import still_there
from local.embedded.spark_server import SparkServer


def used_so_far(airflow: Airflow, server: SparkServer, broker: Broker) -> dict[str, float]:
    """Processor seconds by part, ended processes included. All four of Airflow's must run."""
    used: dict[str, float] = {}
    for name, guard in zip(PROCESSES, airflow.pids, strict=True):
        # A guard also adopts what others leave behind.
        main = min(psutil.Process(guard).children(), key=psutil.Process.create_time)
        below = main.children(recursive=True)
        if name == "scheduler":
            # With the LocalExecutor, all below the scheduler are workers and their tasks.
            own, ended = _own_and_ended(main)
            used |= {name: own, "the runs' tasks": ended + _whole(below)}
        else:
            used[name] = _whole([main, *below])
    used["Spark server"] = _whole(still_there(server.pids))
    used["Kafka"] = _whole(still_there(broker.pids))
    return used


def _own_and_ended(process: psutil.Process) -> tuple[float, float]:
    times = process.cpu_times()
    return times.user + times.system, times.children_user + times.children_system


def _whole(processes: Iterable[psutil.Process]) -> float:
    seconds = 0.0
    for each in processes:
        # What ends meanwhile is counted with its parent at the next look.
        with suppress(psutil.NoSuchProcess):
            seconds += sum(_own_and_ended(each))
    return seconds


@contextmanager
def silent_port(port: int) -> Iterator[Callable[[], int]]:
    """It accepts connections and answers nothing.

    In the block, calling the result tells how many have connected since the last call.
    """
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        # The system keeps the connections until they are counted.
        listening.listen(128)
        listening.setblocking(False)
        yield lambda: _callers(listening)


def _callers(listening: socket.socket) -> int:
    count = 0
    with suppress(BlockingIOError):
        while True:
            listening.accept()[0].close()
            count += 1
    return count
