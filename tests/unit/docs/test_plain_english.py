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
from tests.unit.sources import ROOT, shown
from tests.unit.test_repository import COMMANDS

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Pages that still have some; the list only gets shorter.
LEFT = {
    "docs/decisions/0005-json-is-read-by-an-expression-of-our-own.md",
    "docs/decisions/0011-one-house.md",
    "docs/decisions/0012-trust-is-one-value.md",
    "docs/decisions/0013-a-commit-is-a-hard-link.md",
    "docs/decisions/0014-every-batch-can-be-closed.md",
    "docs/decisions/0015-recovered-from-the-data-table.md",
    "docs/decisions/0016-a-server-is-trusted-as-little-as-a-task.md",
    "docs/decisions/0017-a-cold-jvm-compiles-less.md",
    "docs/decisions/0018-a-commit-in-a-bucket.md",
    "docs/decisions/0021-a-registry-is-asked-by-a-client-of-our-own.md",
    "docs/decisions/0022-a-derived-column-never-fails.md",
    "docs/decisions/0024-avro-is-read-by-an-expression-of-our-own.md",
    "docs/decisions/0025-protobuf-is-read-by-an-expression-of-our-own.md",
    "docs/decisions/0026-a-reader-only-grows.md",
    "docs/decisions/0027-a-machine-that-thinks-of-cases.md",
    "docs/decisions/0029-the-table-says-what-it-holds.md",
    "docs/decisions/0030-a-recovery-ends-in-what-verify-accepts.md",
    "docs/decisions/0031-a-doubt-is-about-its-batch.md",
    "docs/decisions/0032-what-a-proof-compares.md",
    "docs/decisions/0033-how-a-quarantine-is-closed.md",
    "docs/decisions/0034-a-session-is-ours.md",
    "docs/decisions/0035-a-registry-is-known-by-its-numbers.md",
    "docs/decisions/0037-what-others-set-on-the-table.md",
    "docs/decisions/0038-a-replay-writes-what-it-was-asked-about.md",
    "docs/decisions/0039-how-far-others-commits-were-judged.md",
}

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
    hits = [*of_markdown(shown(page), page.read_text(encoding="utf-8")).found()]
    if shown(page) in LEFT:
        assert hits, "nothing is left here"
    else:
        assert hits == []


@pytest.mark.parametrize(("name", "command"), [("", command_line), *COMMANDS])
def test_help_has_no_riddles(name: str, command: click.Command) -> None:
    assert [hit for text in of_command(name, command) for hit in text.found()] == []
