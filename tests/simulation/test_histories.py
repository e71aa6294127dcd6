"""Every history that ever found something: a mended hole is closed, a known one still there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation.history import read_history
from tests.simulation.known import HOLES
from tests.simulation.play import play

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))


@pytest.mark.parametrize("path", HISTORIES, ids=lambda each: each.stem)
def test_a_history_ends_as_its_file_says(path: Path) -> None:
    """Who mends a hole empties `known` and `finding` in the files of its histories."""
    stored = read_history(path)
    finding = play(stored.history).finding
    found = "" if finding is None else finding.kind
    assert found == stored.finding.partition(": ")[0], f"{finding}"


def test_each_known_hole_has_a_history() -> None:
    shown = {read_history(path).known for path in HISTORIES} - {""}
    assert shown == {each.name for each in HOLES}
