"""A bench that is held with little to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.unit.sources import ROOT
from tests.worlds.processes import JAVA_TUNING


def held(module: str, *words: str) -> str:
    """What a bench has printed."""
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=ROOT,
        env={**os.environ, **JAVA_TUNING},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def figures(folder: Path, module: str, *words: str) -> tuple[dict[str, Any], str]:
    """What it has measured in one round, and what it has printed."""
    file = folder / "figures.json"
    printed = held(module, "--rounds", "1", "--json", str(file), *words)
    return json.loads(file.read_text(encoding="utf-8")), printed
