"""A look for topics: a template that is refused is told, and keeps no other waiting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from click.testing import CliRunner, Result
from sluice.broker.port import Cluster
from sluice.cli import command_line
from sluice.operations.find_topics import find_topics

from tests.unit.builders import spec_keys

REFUSED = {"format": {"type": "json", "schema": "id STRING"}, "only": {"where": "id > 0"}}
WHY = "only.where: "


class Topics:
    """A cluster with one topic for each template."""

    def topic_names(self) -> list[str]:
        return ["bad.eu", "good.eu"]


def cluster(_: str) -> Cluster:
    return cast(Cluster, Topics())


def write_template(folder: Path, name: str, **keys: Any) -> Path:
    names = {"pipeline": "{topic}", "table": "{topic}", "topics": None}
    file = folder / f"{name}.yaml"
    given = spec_keys(**names, topic_pattern=rf"{name}\..*", **keys)
    file.write_text(yaml.safe_dump(given), encoding="utf-8")
    return file


def kept(file: Path) -> list[str]:
    found = file.with_name(f"{file.name}.topics.json").read_text(encoding="utf-8")
    return list(json.loads(found)["pipelines"])


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return write_template(tmp_path, "bad", **REFUSED)


def test_a_refused_template_is_told_and_the_good_ones_are_done(bad: Path, tmp_path: Path) -> None:
    good = write_template(tmp_path, "good")
    looks, (problem,) = find_topics(tmp_path, (), cluster, execute=True)
    assert [(each.path, each.choice.new) for each in looks] == [(good, ("good.eu",))]
    assert str(problem).startswith(f"{bad}: {WHY}")
    assert kept(good) == ["good.eu"]


def test_only_templates_that_are_meant_are_looked_for(bad: Path, tmp_path: Path) -> None:
    """What else is wrong in the folder is told by `check`, the page and `sluice_watch`."""
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(spec_keys(schedule="soon")))
    (tmp_path / "unreadable.yaml").write_text("pipeline: '{topic}\n")
    found = [str(each) for each in find_topics(tmp_path, (), cluster, execute=True)[1]]
    assert [each.split(": ")[0] for each in found] == [str(bad), f"{tmp_path}/unreadable.yaml"]


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    (problem,) = find_topics(tmp_path / "none", (), cluster, execute=True)[1]
    assert "no such folder" in str(problem)


def topics(folder: Path, *options: str) -> Result:
    settings = {"SLUICE_PIPELINES": str(folder), "SLUICE_WAREHOUSE": str(folder)}
    return CliRunner(env=settings).invoke(command_line, ["topics", *options])


def test_the_command_exits_with_1_for_a_refused_template_alone(bad: Path, tmp_path: Path) -> None:
    found = topics(tmp_path, "--execute")
    assert found.exit_code == 1
    assert f"{bad}: {WHY}" in found.stderr
    assert "no spec has" not in found.output
