"""The demo's tables: whole in a pipe, and side by side in 80 columns."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from local.demo.report import Run, print_runs
from tests.unit.cli.test_output import Terminal

STATES = dict.fromkeys(("plan", "ingest", "settle", "refresh"), "success")
RUNS = [
    Run("nothing new", 0, 6.2, {**STATES, "ingest": "skipped", "settle": "skipped"}, 0, True),
    Run("autumn, with a kill", 170_618, 124.0, STATES, 0, True),
]


def lines_of(shown: str) -> list[list[str]]:
    return [line.split() for line in shown.splitlines() if line]


def test_a_run_whose_state_table_was_not_refreshed_is_not_as_expected() -> None:
    assert [each.as_expected for each in RUNS] == [True, True]
    left = {**STATES, "refresh": "skipped"}
    assert not replace(RUNS[1], states=left).as_expected


def check(shown: str) -> None:
    *_, nothing, killed = lines_of(shown)
    assert nothing == ["nothing", "new", "0", "6.2", "0", *RUNS[0].states.values()]
    assert killed == ["autumn,", "with", "a", "kill", "170,618", "124.0", "0", *STATES.values()]
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
