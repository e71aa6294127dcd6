"""`sluice check`: a folder in which nothing is checked is no success."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sluice.cli import command_line

SPEC = "{version: 1, pipeline: trips, table: trips, topics: [t], format: {type: raw}}"


def check(folder: Path, *options: str, **settings: str) -> Result:
    settings |= {"SLUICE_PIPELINES": str(folder), "SLUICE_WAREHOUSE": str(folder)}
    return CliRunner(env=settings).invoke(command_line, ["check", *options])


@pytest.mark.parametrize("options", [[], ["--json"]], ids=str)
def test_an_empty_folder_is_no_success(options: list[str], tmp_path: Path) -> None:
    found = check(tmp_path, *options)
    assert found.exit_code == 1
    assert f"{tmp_path}: expected spec files (*.yaml, *.yml), found none." in found.stderr
    assert "SLUICE_PIPELINES" in found.stderr
    if options:
        assert json.loads(found.stdout) == {"files": []}
    (tmp_path / "trips.yaml").write_text(SPEC)
    assert check(tmp_path, *options).exit_code == 0


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    found = check(tmp_path / "none")
    assert found.exit_code == 1
    assert "no such folder" in found.stderr
    assert found.stdout == "0 files, 1 with findings\n"


def test_a_warehouse_may_be_marked_before_there_are_specs(tmp_path: Path) -> None:
    found = check(tmp_path, "--mark-warehouse", SLUICE_WAREHOUSE_NAME="test")
    assert found.exit_code == 0, found.output


def test_a_field_without_a_column_is_told(tmp_path: Path) -> None:
    """It is no finding: the other fields land."""
    fields = {"id": {"type": "integer"}, "http status": {"type": "integer"}, "_key": {}}
    (tmp_path / "s.json").write_text(json.dumps({"type": "object", "properties": fields}))
    spec = SPEC.replace("type: raw", "type: json, schema_file: s.json")
    (tmp_path / "trips.yaml").write_text(spec)
    found = check(tmp_path)
    assert found.exit_code == 0
    assert "format: no column holds $['http status']: a column name must" in found.output
    assert "trips.yaml: format: no column holds $._key: Sluice has its own column" in found.output
    (document,) = json.loads(check(tmp_path, "--json").output)["files"]
    assert len(document["notes"]) == 2


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A template with two pipelines, and a topic that has none."""
    file = tmp_path / "orders.yaml"
    file.write_text(
        "{version: 1, pipeline: '{topic}', table: '{topic}', topic_pattern: 'orders.*',"
        " format: {type: raw}}"
    )
    found = {"version": 1, "pipelines": ["orders.eu", "orders.us"], "left_out": ["orders-eu"]}
    (tmp_path / "orders.yaml.topics.json").write_text(json.dumps(found))
    return file


def test_a_template_and_each_pipeline_that_it_makes_are_checked(template: Path) -> None:
    found = check(template.parent, "--json")
    assert found.exit_code == 1
    documents = {each["file"]: each for each in json.loads(found.stdout)["files"]}
    assert {each["pipeline"] for each in documents.values()} == {None, "orders_eu", "orders_us"}
    assert not documents[f"{template} (topic orders.eu)"]["findings"]
    (told,) = documents[f"{template} (topics without a pipeline)"]["findings"]
    assert told.startswith(f"{template}: topic orders-eu: found the name 'orders_eu', which the")


def test_a_template_may_be_checked_by_its_file(template: Path, tmp_path: Path) -> None:
    (tmp_path / "trips.yaml").write_text(SPEC)
    found = check(tmp_path, str(template))
    assert found.exit_code == 1
    assert "topic orders-eu: found the name" in found.stderr
    assert found.stdout == "1 file, 1 with findings\n"


def test_a_template_without_topics_is_told_what_looks_for_them(template: Path) -> None:
    (template.parent / "orders.yaml.topics.json").unlink()
    found = check(template.parent)
    assert found.exit_code == 0
    assert "no topic has a pipeline yet: `sluice topics --execute` looks for them" in found.stdout


def test_topics_that_are_not_allowed_are_told(template: Path) -> None:
    text = template.read_text().replace("version: 1", "version: 1, topics_allowed: [orders.eu]")
    template.write_text(text)
    found = check(template.parent)
    assert found.exit_code == 0, found.output
    assert "not in topics_allowed: topic orders-eu" in found.stdout
    assert "with a pipeline until the template left them out: topic orders.us" in found.stdout
