"""The bench of formats runs with few records: each decoding has its turn, and a ratio."""

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


def test_each_format_is_measured_beside_sparks_own_decoding(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    options = ["--records", "1000", "--rounds", "1", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "local.bench.formats", *options],
        cwd=ROOT,
        env={**os.environ, **JAVA_TUNING},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    taken, ratios, *_ = json.loads(file.read_text())["tables"]
    assert {line[0] for line in taken["lines"]} >= {"json", "from_json", "avro", "from_avro"}
    assert [line[0] for line in ratios["lines"][1:3]] == ["json / from_json", "avro / from_avro"]
