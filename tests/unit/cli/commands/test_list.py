"""`sluice list`: a folder that is none is no empty list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sluice.cli import command_line


def listed(folder: Path, *options: str) -> Result:
    settings = {"SLUICE_PIPELINES": str(folder), "SLUICE_WAREHOUSE": str(folder)}
    return CliRunner(env=settings).invoke(command_line, ["list", *options])


@pytest.mark.parametrize("options", [[], ["--json"]], ids=str)
def test_what_is_no_folder_is_a_failure(options: list[str], tmp_path: Path) -> None:
    file = tmp_path / "trips.yaml"
    file.write_text("{}")
    for place, found in ((file, "a file, expected a folder"), (tmp_path / "no", "no such folder")):
        done = listed(place, *options)
        assert done.exit_code == 1
        assert f"{place}: {found}" in str(done.exception)


def test_a_refused_spec_is_listed(tmp_path: Path) -> None:
    (tmp_path / "lost.yaml").symlink_to(tmp_path / "none")
    assert json.loads(listed(tmp_path, "--json").stdout) == {
        "pipelines": [],
        "refused": [str(tmp_path / "lost.yaml")],
    }
