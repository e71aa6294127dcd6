"""docs/operations.md: each recipe is played, each command exists, each piece of a spec loads."""

from __future__ import annotations

import re
from inspect import getsource, isgeneratorfunction
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from sluice.cli import command_line
from sluice.errors import SluiceError
from sluice.spec_folder import read_specs

from tests.airflow.scenarios import test_airflow_announcements, test_airflow_backfills
from tests.worlds.console import ID
from tests.worlds.operator_scenes import SCENES
from tests.worlds.recipes import PAGE, Block, commands_of, recipes

TEXT = PAGE.read_text(encoding="utf-8")
CHOICES = [
    (heading, keys)
    for heading, blocks in recipes().items()
    for block in blocks
    for keys in block.choices
]


def anchor(heading: str) -> str:
    """A heading's address on the page, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def typed(words: list[str]) -> click.Command:
    """The command that these words name, their options parsed. Raises for wrong usage."""
    command: click.Command = command_line
    rest = words[1:]
    while isinstance(command, click.Group):
        name, found, rest = command.resolve_command(click.Context(command), rest)
        assert found, name
        command = found
    command.make_context(words[0], list(rest))
    return command


def leaves(group: click.Group) -> set[click.Command]:
    found: set[click.Command] = set()
    context = click.Context(group)
    for name in group.list_commands(context):
        each = group.get_command(context, name)
        assert each, name
        found |= leaves(each) if isinstance(each, click.Group) else {each}
    return found


def test_every_recipe_with_commands_of_ours_is_played_and_no_other() -> None:
    ours = dict.fromkeys(heading for heading, _ in commands_of("sluice"))
    assert list(SCENES) == list(ours)
    assert all(isgeneratorfunction(scene) for scene in SCENES.values())


@pytest.mark.parametrize("program", ["airflow", "curl"])
def test_every_command_for_airflow_is_run_in_a_real_one(program: str) -> None:
    tests = getsource(test_airflow_backfills)
    for heading, _ in commands_of(program):
        assert f'"{heading}"' in tests, heading


def test_every_dag_file_is_run_in_a_real_airflow() -> None:
    tests = getsource(test_airflow_announcements)
    for heading, blocks in recipes().items():
        if any(block.language == "python" for block in blocks):
            assert f'"{heading}"' in tests, heading


def test_there_are_no_blocks_and_programs_that_no_test_runs() -> None:
    blocks = [block for found in recipes().values() for block in found]
    assert {block.language for block in blocks} == {"sh", "yaml", "python"}
    files = [block for block in blocks if block.language == "python"]
    assert all(block.commands or block.choices for block in blocks if block not in files)
    programs = {words[0] for block in blocks for words in block.commands}
    assert programs == {"sluice", "airflow", "curl"}


def test_every_command_of_ours_has_a_recipe_and_is_well_formed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "offsets.csv").write_text("flights,0,3\n")
    (tmp_path / "flights.jsonl").write_text("{}\n")
    monkeypatch.chdir(tmp_path)
    shown = {typed(words) for _, words in commands_of("sluice")}
    assert leaves(command_line) - shown == set()


def test_an_id_is_only_asked_for_where_a_preview_in_the_same_block_has_shown_it() -> None:
    for block in (block for blocks in recipes().values() for block in blocks):
        for before, words in zip([[], *block.commands], block.commands, strict=False):
            if ID in words:
                assert words[: len(before)] == before, words
                assert "--execute" in words


@pytest.mark.parametrize(("heading", "keys"), CHOICES, ids=str)
def test_every_piece_of_a_spec_is_accepted(
    heading: str, keys: dict[str, Any], tmp_path: Path
) -> None:
    named: dict[str, Any] = {"version": 1, "pipeline": "flights", "table": "flights"}
    by_name = {"except_topics", "topic_pattern"} & keys.keys()
    topics = {"topic_pattern": "flights.*"} if by_name else {"topics": ["flights"]}
    file = tmp_path / "flights.yaml"
    file.write_text(yaml.safe_dump({**named, **topics, "format": {"type": "raw"}, **keys}))
    assert read_specs(tmp_path).refused == {}


def test_every_error_is_on_the_page_by_its_name() -> None:
    names = [each.__name__ for each in SluiceError.__subclasses__()]
    assert [each for each in names if f"`{each}`" not in TEXT] == []


def test_every_recipe_says_what_is_seen_or_done_and_what_happens() -> None:
    parts = re.split(r"^## .+$", TEXT, flags=re.MULTILINE)[1:]
    assert len(parts) == len(recipes())
    for heading, text in zip(recipes(), parts, strict=True):
        assert re.search(r"^\*\*You (see|do)\*\*", text, re.MULTILINE), heading
        assert "**What happens.**" in text, heading


def test_every_recipe_is_listed_at_the_top_and_every_link_leads_somewhere() -> None:
    anchors = {anchor(heading) for heading in recipes()}
    links = set(re.findall(r"\]\(#([\w-]+)\)", TEXT))
    assert links <= anchors
    top = set(re.findall(r"\]\(#([\w-]+)\)", TEXT[: TEXT.index("\n## ")]))
    assert anchors - top == {"read-again-from-the-trigger-form", "give-an-unfinished-backfill-up"}
    for path, where in re.findall(r"\]\((\w[\w/.]*\.md)(?:#([\w-]+))?\)", TEXT):
        text = (PAGE.parent / path).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        assert not where or where in map(anchor, headings), (path, where)


def test_a_block_is_read_as_a_shell_would_read_it() -> None:
    block = Block(
        "sh", "sluice plan flights   # look\nsluice reset flights --skip 'flights[0]@2'\n"
    )
    assert block.commands == [
        ["sluice", "plan", "flights"],
        ["sluice", "reset", "flights", "--skip", "flights[0]@2"],
    ]
