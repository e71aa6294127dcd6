"""The stack: its verbs are explained, and what `make up` prints works in a fresh shell."""

from __future__ import annotations

import io
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from local.stack import VERBS, Process, StackState, show, told_end
from tests.unit.sources import ROOT


def stack(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "local.stack", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_help_lists_the_verbs() -> None:
    done = stack("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert [verb for verb in VERBS if f"    {verb} " not in done.stdout] == []


@pytest.mark.parametrize("words", [[], ["upp"]], ids=str)
def test_wrong_usage_is_exit_code_2(words: list[str]) -> None:
    done = stack(*words)
    assert done.returncode == 2
    assert "usage: python -m local.stack" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_make_up_prints_works_in_a_fresh_shell(tmp_path: Path) -> None:
    known = {
        "SLUICE_WAREHOUSE": f"{tmp_path}/it's here",
        "AIRFLOW_CONN_X": '{"extra": {"a": "$b"}}',
    }
    owner = Process.of(os.getpid())
    state = StackState(owner, (), "127.0.0.1:1", "http://127.0.0.1:2", "admin", "secret", known)
    said = io.StringIO()
    show(state, tmp_path, Console(file=said, width=200))
    shown = re.search(r"^Commands +(\S+ \S+) ", said.getvalue(), re.MULTILINE)
    assert shown
    asked = 'command -v sluice; printf "%s\\n" "$SLUICE_WAREHOUSE" "$AIRFLOW_CONN_X"'
    done = subprocess.run(
        ["bash", "-c", f"{shown[1]}; {asked}"],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    sluice = str(Path(sys.executable).with_name("sluice"))
    assert done.stdout.splitlines() == [sluice, *known.values()]
    assert stat.S_IMODE((tmp_path / "env").stat().st_mode) == 0o600


def test_a_stack_that_has_ended_by_itself_says_what_died_and_keeps_its_log(tmp_path: Path) -> None:
    (tmp_path / "stack.log").write_text(
        "2026-11-30 18:00:01,000 INFO Airflow at http://127.0.0.1:2\n"
        "2026-11-30 18:09:01,000 ERROR the broker ended by itself, and with it the stack; logs are"
        " in build/up\n2026-11-30 18:09:02,000 INFO stopped\n"
    )
    told = told_end(tmp_path)
    assert "The stack had ended: the broker ended by itself, and with it the stack" in told
    assert "with all its data" in told
    assert "the broker" in (tmp_path / "stack.log.before").read_text()
    # Killed, it has said nothing; and there may be no log at all.
    (tmp_path / "stack.log").write_text("2026-11-30 18:00:01,000 INFO Airflow\n")
    assert "it was killed" in told_end(tmp_path)
    assert "it was killed" in told_end(tmp_path)
