"""CONTRIBUTING.md: every tier is in its table, and every file that it names is there."""

from __future__ import annotations

import re

from tests.unit.sources import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_table_has_every_target_that_tests() -> None:
    targets = re.findall(r"^(check|simulate|soak|test[a-z-]*):", MAKEFILE, re.MULTILINE)
    assert sorted(re.findall(r"^\| `make ([a-z-]+)", PAGE, re.MULTILINE)) == sorted(targets)


def test_the_files_and_functions_that_it_names_are_there() -> None:
    named = re.findall(r"(?<![\w/<>])(?:jobs|tests|docs|\.ci)/[\w/.-]*\w/?", PAGE)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
    asked = re.findall(r"(tests/\S+\.py) -k (\w+)", PAGE)
    assert [each for each in asked if each[1] not in (ROOT / each[0]).read_text("utf-8")] == []
