"""The bench of DAG runs: seconds from trigger to end, shares of the cores, calls to a port."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta

from local.bench.dag_runs.runs import (
    TASKS,
    Many,
    Single,
    TimedRun,
    Wave,
    many_runs,
    single_runs,
)
from local.bench.dag_runs.watched import silent_port
from local.embedded.ports import free_port

START = datetime(2024, 1, 5, tzinfo=UTC)


def run(begun: float, ended: float, state: str = "success") -> TimedRun:
    """A run whose three tasks took a second each; times are seconds after the start."""
    first, last = (START + timedelta(seconds=each) for each in (begun, ended))
    return TimedRun("p", state, first, last, dict.fromkeys(TASKS, state), dict.fromkeys(TASKS, 1.0))


def test_what_is_in_no_task_is_between_them() -> None:
    assert (run(1, 6).seconds, run(1, 6).between) == (5.0, 2.0)


def test_a_wave_lasts_from_the_first_trigger_to_the_last_end() -> None:
    wave = Wave([run(1, 9), run(0, 4), run(2, 3, "failed")])
    assert wave.seconds == 9.0
    assert wave.in_tasks == 9.0
    assert (wave.count("success"), wave.count("failed")) == (2, 1)


def test_single_runs_are_judged_by_their_median() -> None:
    shown = single_runs([Single("warm", 6, [run(0, 9), run(0, 5), run(0, 4)])])
    assert shown.lines[1][:4] == ("warm", "5.0", "6", "met")
    assert shown.lines[1][-1] == "9.0 5.0 4.0"


def test_shares_are_of_all_cores_and_the_rest_is_idle_or_not_ours() -> None:
    wave = Wave([run(0, 10), run(0, 5, "failed")])
    used = {"scheduler": 5.0, "the runs' tasks": 10.0}
    shown, shares = many_runs([Many("first runs", 9.0, 2, 1, 1_000, wave, used)])
    assert shown.lines[1] == ("first runs", "10.0", "9", "MISSED", "1 of 1", "1", "6.0")
    assert [line[1] for line in shares.lines] == ["first runs", "25%", "50%", "25%"]


def test_the_silent_port_counts_every_caller_once() -> None:
    with silent_port(free_port()) as callers:
        assert callers() == 0
    port = free_port()
    with silent_port(port) as callers:
        for _ in range(2):
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        assert (callers(), callers()) == (2, 0)
