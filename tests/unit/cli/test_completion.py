"""Completion: commands, options, and the names of pipelines, as a shell asks for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SPEC = "{{version: 1, pipeline: {0}, table: {0}, topics: [t], format: {{type: raw}}}}"
MAIN = [sys.executable, "-c", "from sluice.cli import main; main()"]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("sluice sta", ["status"]),
        ("sluice run or", ["orders", "orders_eu"]),
        ("sluice status p", ["payments"]),
        ("sluice quarantine show pa", ["payments"]),
        ("sluice run orders --js", ["--json"]),
        ("sluice status --fail-on st", ["stopped"]),
        ("sluice statu x", []),
    ],
)
def test_what_a_shell_is_offered(typed: str, offered: list[str], tmp_path: Path) -> None:
    for name in ("orders", "orders_eu", "payments"):
        (tmp_path / f"{name}.yaml").write_text(SPEC.format(name))
    (tmp_path / "broken.yaml").write_text("{")
    assert asked(typed, str(tmp_path)) == offered


def test_a_missing_folder_offers_nothing() -> None:
    assert asked("sluice run o", "/nonexistent") == []


def asked(typed: str, folder: str) -> list[str]:
    environment = {
        "SLUICE_PIPELINES": folder,
        "_SLUICE_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    done = subprocess.run(
        MAIN, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return [line.removeprefix("plain,") for line in done.stdout.split()]
