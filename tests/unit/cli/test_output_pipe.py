"""A reader that leaves early is no failure, and nothing else becomes a success by it.

A full disk is one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = f"{sys.executable} -c 'from sluice.cli import main; main()'"
SPEC = "{{version: 1, pipeline: p{0}, table: p{0}, topics: [t], format: {{type: raw}}}}"


def ended(line: str, folder: Path) -> tuple[int, str]:
    """The exit code of the first command of the pipeline, and what it said on stderr."""
    shell = ["bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}"]
    environment = {**os.environ, "SLUICE_PIPELINES": str(folder), "SLUICE_WAREHOUSE": str(folder)}
    done = subprocess.run(shell, env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(30):
        (tmp_path / f"p{number}.yaml").write_text(SPEC.format(number))
    return tmp_path


@pytest.mark.parametrize("reader", ["true", "head -c1 >/dev/null"])
def test_a_reader_that_leaves_is_no_failure(folder: Path, reader: str) -> None:
    for command in ("--help", "list", "list --json", "schema", "check"):
        assert ended(f"{MAIN} {command} | {reader}", folder) == (0, ""), command


def test_the_exit_code_still_says_what_became_of_the_work(folder: Path) -> None:
    (folder / "wrong.yaml").write_text("{}")
    code, errors = ended(f"{MAIN} check --json | true", folder)
    assert (code, "Traceback" in errors) == (1, False)


def test_watching_ends_with_its_reader(folder: Path) -> None:
    watching = f"env -u AIRFLOW_CONN_KAFKA_DEFAULT {MAIN} status --watch --every 1"
    assert ended(f"{watching} | head -1 >/dev/null", folder) == (0, "")


@pytest.mark.parametrize("command", ["--help", "list", "list --json", "schema"])
def test_output_that_is_not_whole_is_a_failure(folder: Path, command: str) -> None:
    told = "Error: standard output: No space left on device. It is not whole; write it elsewhere.\n"
    assert ended(f"{MAIN} {command} >/dev/full", folder) == (1, told)
