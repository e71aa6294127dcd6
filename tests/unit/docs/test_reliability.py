"""The matrix of faults names tests that are there, and every fault test is in it."""

from __future__ import annotations

import re

from tests.unit.sources import ROOT

DOCUMENT = ROOT / "docs" / "reliability.md"
LINK = re.compile(r"\[(test_\w+)\]\(\.\./(tests/[\w/]+\.py)\)")


def test_every_row_is_linked_to_a_test_file_of_that_name() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    faults = [line for line in rows if not line.startswith("| fault ")]
    assert len(faults) > 30
    for line in faults:
        links = LINK.findall(line)
        assert links, line
        for name, path in links:
            assert (ROOT / path).stem == name
            assert (ROOT / path).is_file(), path


def test_every_file_of_fault_tests_is_in_the_matrix() -> None:
    linked = {path for _, path in LINK.findall(DOCUMENT.read_text(encoding="utf-8"))}
    faults = (ROOT / "tests" / "faults").glob("test_*.py")
    there = {str(path.relative_to(ROOT)) for path in faults}
    assert there
    assert there <= linked
