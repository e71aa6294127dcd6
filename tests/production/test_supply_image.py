"""The image's packages: what its Dockerfile installs can be had in the form that it allows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from local.embedded.airflow_processes import ROOT


def test_every_package_of_the_lock_is_installed_as_the_dockerfile_says(tmp_path: Path) -> None:
    """All but the last step: files are chosen, fetched, and compared with their hashes."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    (options,) = re.findall(r"\.venv/bin/python -m pip install (.*)$", text, re.MULTILINE)
    assert "--require-hashes" in options
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    pip = [str(tmp_path / "venv" / "bin" / "python"), "-m", "pip", "install", "--dry-run"]
    done = subprocess.run([*pip, *shlex.split(options)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Would install" in done.stdout
    assert "pyspark-client-4.2.0" in done.stdout
