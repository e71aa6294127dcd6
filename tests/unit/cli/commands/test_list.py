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


def test_the_pipelines_of_a_template_are_listed_with_their_topic(tmp_path: Path) -> None:
    file = tmp_path / "orders.yaml"
    file.write_text(
        "{version: 1, pipeline: '{topic}', table: '{topic}', topic_pattern: 'orders.*',"
        " format: {type: raw}}"
    )
    known = {"version": 1, "pipelines": ["orders.eu"], "left_out": []}
    (tmp_path / "orders.yaml.topics.json").write_text(json.dumps(known))
    assert "orders.yaml (topic orders.eu)" in listed(tmp_path).stdout
    (document,) = json.loads(listed(tmp_path, "--json").stdout)["pipelines"]
    assert (document["pipeline"], document["topics"]) == ("orders_eu", ["orders.eu"])
    assert document["file"] == str(file)
