"""The bench runs with few records: each of three kinds of contenders has its turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.sources import ROOT
from tests.worlds.processes import JAVA_TUNING

pytestmark = pytest.mark.integration
NAMES = ["available-now", "raw-limit", "run-cold"]


def test_the_bench_measures_whole_processes_and_counts_their_rows(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = ["-m", "local.bench", "--records", "401", "--rounds", "1", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, *command, *NAMES],
        cwd=ROOT,
        env={**os.environ, **JAVA_TUNING},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (size,) = json.loads(file.read_text(encoding="utf-8"))["measured"]
    assert size["records"] == 400, "as many for each of the four partitions"
    assert {name: len(each) for name, each in size["turns"]["seconds"].items()} == dict.fromkeys(
        NAMES, 1
    )
    assert "run-cold / available-now" in done.stdout
