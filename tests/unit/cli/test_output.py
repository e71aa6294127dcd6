"""Tables in a terminal: whatever its width, no name, partition or offset is cut or broken."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.cli.output import print_table

Print = Callable[[int], str]
COLUMNS = ("partition", "cursor", "sample of", "reason")
ROW = ("a.topic.of.orders[2]", 1_234_567, "a.topic.of.orders[2]@1234567", "no object: " + "x" * 90)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(width: int, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", str(width))
        patched.setattr(sys, "stdout", terminal := Terminal())
        print_table("orders", columns, rows, prose=("reason",))
        return terminal.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_what_one_must_read_or_copy_is_whole(width: int) -> None:
    shown = printed(width, COLUMNS, [ROW, ROW])
    for word in ("a.topic.of.orders[2]@1234567", "1,234,567"):
        assert shown.count(word) == 2
    assert "…" not in shown
    assert shown.replace("\n", "").replace(" ", "").count("x") >= 180


def test_side_by_side_where_it_fits_and_else_below_each_other() -> None:
    assert len(printed(80, COLUMNS, [ROW]).splitlines()[2].split()) > 1
    below = printed(40, COLUMNS, [ROW]).splitlines()
    assert [line.split()[0] for line in below[1:4]] == ["partition", "cursor", "sample"]


def test_into_a_pipe_each_row_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("orders", COLUMNS, [ROW, ROW], prose=("reason",))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["orders", "partition", ROW[0], ROW[0]]


def test_without_colours_it_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    plain = printed(80, COLUMNS, [ROW])
    assert "\x1b[3" not in plain
    assert ROW[2] in plain


WORDS = st.text(st.characters(codec="ascii", categories=("L", "N", "P")), min_size=1, max_size=30)


@given(st.lists(st.tuples(WORDS, st.integers(0, 10**12)), min_size=1, max_size=4), WORDS)
def test_no_word_is_ever_lost(rows: list[tuple[str, int]], column: str) -> None:
    for width in (20, 33, 80):
        shown = printed(width, (column, "offset"), rows)
        for word, number in rows:
            assert word in shown.replace("\n", " ") or width < 40
            assert f"{number:,}" in shown


def test_a_heading_folds_at_its_spaces_only() -> None:
    columns = ("batch", "quarantined", "generation", "settled (UTC)", "oldest unread")
    row = ("forward-1-1", 0, 1, "2026-11-01 06:00:00", "0:00:01")
    for width in (60, 66, 70, 80):
        heading = printed(width, columns, [row])
        assert all(word in heading for column in columns for word in column.split()), heading
