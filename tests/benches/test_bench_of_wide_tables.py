"""The bench of wide tables runs with few rows: each contender has its turn, and a ratio."""

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


def test_each_choice_of_statistics_is_measured_beside_the_others(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    options = ["--rows", "1000", "--columns", "30", "--rounds", "1", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "local.bench.wide_tables", *options],
        cwd=ROOT,
        env={**os.environ, **JAVA_TUNING},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ((size,), (taken, ratios)) = (
        json.loads(file.read_text())[key] for key in ("measured", "tables")
    )
    assert [*size["turns"]["seconds"]] == ["none", "all", "twenty", "chosen"]
    assert len(taken["lines"]) == 5
    assert ratios["lines"][1][0] == "chosen / twenty"
