"""Pages, help texts and sources have none of the riddles that docs/style.md lists."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from sluice.cli import command_line

from tests.unit.docs.plain_english import (
    PAGE,
    Riddle,
    Text,
    of_command,
    of_markdown,
    of_python,
    riddles,
)
from tests.unit.sources import ROOT, shown, sources
from tests.unit.test_repository import COMMANDS

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = sources("jobs", "dags", "plugins", "local")

# Tables store it as the cause of a loss, and it is read back: it cannot change.
STORED = "what was there can no longer be told"

SOURCE = '''
def kept() -> str:
    """Files that are ours, but
    for the last."""
    # A name which
    # nobody knows.
    return f"{3} specs that " "are none, `but for` one"
'''


def test_the_table_is_read() -> None:
    assert len(riddles()) > 15
    assert PAGE.read_text(encoding="utf-8").count("\n") <= 60


@pytest.mark.parametrize("riddle", riddles(), ids=lambda riddle: riddle.example)
def test_a_pattern_finds_its_example_and_not_what_to_write_instead(riddle: Riddle) -> None:
    assert riddle.pattern.search(riddle.example)
    assert not riddle.pattern.search(riddle.instead)


def test_a_riddle_in_a_page_is_found_by_its_line_and_code_is_left_out() -> None:
    page = "# Told\n\n```sh\nfor whom\n```\n\nWhat `nobody` knows is no\npipeline."
    assert [*of_markdown("a.md", page).found()] == [
        "a.md:8: 'is no': write 'what is not a pipeline'"
    ]


def test_riddles_in_a_docstring_a_comment_and_a_message_are_found() -> None:
    hits = [hit for text in of_python("a.py", SOURCE) for hit in text.found()]
    assert sorted(hit.partition(": write")[0] for hit in hits) == [
        "a.py:4: 'but for'",
        "a.py:6: 'nobody'",
        "a.py:7: 'are none'",
    ]


def test_good_english_is_left_alone() -> None:
    good = "There is none. It is no longer\ntold apart, and set aside. If so, of course, wait."
    assert [*Text("a.md", 1, good).found()] == []


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_a_page_has_no_riddles(page: Path) -> None:
    text = of_markdown(shown(page), page.read_text(encoding="utf-8"))
    assert [*text.found()] == []


def folder_of(path: Path) -> str:
    """The room of the house: `jobs/sluice/lake`, `jobs/sluice` for its own files, or `local`."""
    parts = shown(path).split("/")
    depth = min(len(parts) - 1, 3) if parts[0] == "jobs" else 1
    return "/".join(parts[:depth])


def hits(path: Path) -> list[str]:
    texts = of_python(shown(path), path.read_text(encoding="utf-8"))
    return [hit for text in texts if STORED not in text.words for hit in text.found()]


@pytest.mark.parametrize("folder", sorted({folder_of(path) for path in SOURCES}))
def test_docstrings_comments_and_messages_have_no_riddles(folder: str) -> None:
    paths = [path for path in SOURCES if folder_of(path) == folder]
    assert [hit for path in paths for hit in hits(path)] == []


@pytest.mark.parametrize(("name", "command"), [("", command_line), *COMMANDS])
def test_help_has_no_riddles(name: str, command: click.Command) -> None:
    assert [hit for text in of_command(name, command) for hit in text.found()] == []
