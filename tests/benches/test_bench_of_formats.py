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


def figures(tmp_path: Path, module: str, *words: str) -> tuple[list[list[str]], list[list[str]]]:
    """The lines of the two tables of a bench with few records."""
    file = tmp_path / "figures.json"
    options = ["--records", "1000", "--rounds", "1", "--json", str(file), *words]
    done = subprocess.run(
        [sys.executable, "-m", module, *options],
        cwd=ROOT,
        env={**os.environ, **JAVA_TUNING},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    taken, ratios, *_ = json.loads(file.read_text())["tables"]
    return taken["lines"], ratios["lines"]


def test_each_format_is_measured_beside_sparks_own_decoding(tmp_path: Path) -> None:
    taken, ratios = figures(tmp_path, "local.bench.formats")
    pairs = ["json / from_json", "avro / from_avro", "protobuf / python", "raw / bytes"]
    assert [line[0] for line in ratios[1:]] == pairs
    assert {line[0] for line in taken[1:]} == {name for pair in pairs for name in pair.split(" / ")}


def test_a_format_is_measured_from_kafka_to_delta_beside_a_plain_job(tmp_path: Path) -> None:
    taken, ratios = figures(tmp_path, "local.bench.formats_to_tables", "avro", "protobuf")
    pairs = [f"ingest-{each} / plain-{each}" for each in ("avro", "protobuf")]
    assert [line[0] for line in ratios[1:]] == pairs
    assert {line[0] for line in taken[1:]} == {name for pair in pairs for name in pair.split(" / ")}
