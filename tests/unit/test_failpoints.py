"""A failpoint stops the process at a step of the protocol, in tests and nowhere else."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import sluice
from sluice.errors import SettingsError, SparkFailed
from sluice.failpoints import POINTS, reach

SOURCES = Path(sluice.__file__).parent


@pytest.fixture
def failpoint(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("SLUICE_TEST", "1")
    return monkeypatch


def test_without_a_failpoint_every_step_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLUICE_FAILPOINT", raising=False)
    for point in POINTS:
        reach(point)


def test_a_failpoint_stops_at_its_own_step_only(failpoint: pytest.MonkeyPatch) -> None:
    failpoint.setenv("SLUICE_FAILPOINT", "plan durable: raise")
    for point in POINTS:
        if point != "plan durable":
            reach(point)
    with pytest.raises(SparkFailed, match="failpoint"):
        reach("plan durable")


@pytest.mark.parametrize(
    "wanted", ["plan durable", "plan durable: explode", "plan: kill", ": kill", "kill", "x: y: z"]
)
def test_what_is_no_failpoint_is_refused_at_any_step(
    failpoint: pytest.MonkeyPatch, wanted: str
) -> None:
    failpoint.setenv("SLUICE_FAILPOINT", wanted)
    with pytest.raises(SettingsError, match="SLUICE_FAILPOINT: found"):
        reach("before planning")


@pytest.mark.parametrize("test", [None, "", "0", "true"])
def test_outside_a_test_a_failpoint_is_refused(
    monkeypatch: pytest.MonkeyPatch, test: str | None
) -> None:
    monkeypatch.delenv("SLUICE_TEST", raising=False)
    if test is not None:
        monkeypatch.setenv("SLUICE_TEST", test)
    monkeypatch.setenv("SLUICE_FAILPOINT", "plan durable: raise")
    with pytest.raises(SettingsError, match="for tests only"):
        reach("before planning")


@pytest.mark.parametrize(("kind", "code"), [("kill", -signal.SIGKILL), ("term", -signal.SIGTERM)])
def test_a_process_dies_at_its_failpoint(kind: str, code: int) -> None:
    program = "from sluice.failpoints import reach; reach('commit landed'); print('went on')"
    environment = {
        **os.environ,
        "SLUICE_TEST": "1",
        "SLUICE_FAILPOINT": f"commit landed: {kind}",
        "PYTHONPATH": str(SOURCES.parent),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "")


def test_the_listed_points_are_those_that_the_protocol_reaches() -> None:
    reached = [
        str(call.args[0].value)
        for path in SOURCES.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "reach"
        and isinstance(call.args[0], ast.Constant)
    ]
    assert sorted(set(reached)) == sorted(POINTS)
