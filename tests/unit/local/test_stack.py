"""The stack: its verbs are explained, and what `make up` prints works in a fresh shell."""

from __future__ import annotations

import subprocess
import sys

import pytest

from local.stack import VERBS
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
