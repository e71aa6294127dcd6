"""The bench of scale runs, on small tables: every part of it, with the product's own steps."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.unit.sources import ROOT

pytestmark = pytest.mark.integration


def test_the_bench_of_scale_measures_every_step_of_small_tables() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "local.bench.scale", "--quick"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "over 400" not in done.stdout
    for part in (
        "300 batches of 4",
        "50 partitions",
        "50 files",
        "5 pipelines",
        "3 pipelines",
        "2 pipelines",
    ):
        assert part in done.stdout
