"""The demo's tables: whole in a pipe, and side by side in 80 columns."""

from __future__ import annotations

import sys

import pytest

from local.demo.report import Run, print_runs
from tests.unit.cli.test_output import Terminal

STATES = {"plan": "success", "ingest": "success", "settle": "success"}
RUNS = [
    Run("nothing new", 0, 6.2, 0.4, {**STATES, "ingest": "skipped", "settle": "skipped"}, 0, True),
    Run("autumn, with a kill", 170_618, 124.0, None, STATES, 0, True),
]


def lines_of(shown: str) -> list[list[str]]:
    return [line.split() for line in shown.splitlines() if line]


def check(shown: str) -> None:
    *_, nothing, killed = lines_of(shown)
    assert nothing == ["nothing", "new", "0", "6.2", "0.4", "0", "success", "skipped", "skipped"]
    assert killed == [
        "autumn,",
        "with",
        "a",
        "kill",
        "170,618",
        "124.0",
        "-",
        "0",
        *STATES.values(),
    ]
    assert "…" not in shown


def test_into_a_pipe(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_runs(RUNS)
    check(capsys.readouterr().out)


def test_in_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    print_runs(RUNS)
    check(terminal.getvalue())
