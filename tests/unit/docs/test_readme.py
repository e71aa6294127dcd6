"""README.md and docs/spec.md: links lead somewhere, specs load, every key is in the table."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.topic_template import TemplateKeys
from sluice.spec_folder import load_spec

from tests.unit.docs.test_operations_page import anchor, typed
from tests.unit.sources import ROOT

PAGES = {name: (ROOT / name).read_text("utf-8") for name in ("README.md", "docs/spec.md")}
README, SPEC = PAGES.values()


def specs(page: str) -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [*PAGES, "docs/command-line.md"])
def test_every_link_leads_somewhere(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    for path, where in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), path
        if where:
            headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
            assert where in map(anchor, headings), (path, where)


def test_readme_is_short() -> None:
    assert README.count("\n") <= 160


def test_the_keys_of_the_short_spec_are_enough(tmp_path: Path) -> None:
    (short,) = specs(README)
    assert len(yaml.safe_load(short)) == 6
    (tmp_path / "flights.yaml").write_text(short)
    assert load_spec(tmp_path / "flights.yaml").pipeline == "flights"


def test_the_table_of_keys_has_every_key_of_a_spec_and_no_other(tmp_path: Path) -> None:
    cells = re.findall(r"^\| (`.+?) \|", SPEC, re.MULTILINE)
    listed = [key for cell in cells for key in re.findall(r"`(\w+)`", cell)]
    keys = [field.alias or name for name, field in PipelineSpec.model_fields.items()]
    assert sorted(listed) == sorted([*keys, *TemplateKeys.model_fields])
    (whole,) = specs(SPEC)
    (tmp_path / "flights.yaml").write_text(whole)
    load_spec(tmp_path / "flights.yaml")


def test_the_commands_of_the_command_line_are_well_formed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "flights.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    lines = re.findall(
        r"^\$ (sluice .+)$", (ROOT / "docs/command-line.md").read_text("utf-8"), re.M
    )
    assert len(lines) > 9
    for line in lines:
        typed(shlex.split(line, comments=True))
