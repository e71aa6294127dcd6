"""A bench with few records: each of its contenders has one turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.unit.sources import ROOT
from tests.worlds.processes import JAVA_TUNING

RECORDS = 401


def held(module: str, names: Sequence[str], folder: Path) -> tuple[dict[str, Any], str]:
    """What was measured, and what was printed."""
    file = folder / "figures.json"
    command = ["-m", module, "--records", str(RECORDS), "--rounds", "1", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, *command, *names],
        cwd=ROOT,
        env={**os.environ, **JAVA_TUNING},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (size,) = json.loads(file.read_text(encoding="utf-8"))["measured"]
    return size, done.stdout
