"""How far a reading has got: bars in a terminal, lines now and then elsewhere, nothing by JSON."""

from __future__ import annotations

import io
import logging
import sys

import pytest
from sluice.cli.reading import Lines, bars_of_batches, shown_reading

from tests.unit.builders import offsets, partition


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_every_five_seconds() -> None:
    said: list[str] = []
    now = [0.0]
    lines = Lines(said.append, lambda: now[0])
    for second, reached in ((1, 10), (4, 20), (6, 1_500), (10, 1_700), (11.5, 2_000)):
        now[0] = second
        lines(offsets(5, 2_005), 5 + reached)
    at = partition()
    assert said == [f"reading {at}: {n} of 2,000 offsets" for n in ("1,500", "2,000")]


def test_a_terminal_shows_the_partition_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with shown_reading(quiet=False) as reached:
        reached(offsets(0, 10), 5)
    shown = terminal.getvalue()
    assert str(partition()) in shown
    assert "5 of 10 offsets" in shown


def test_what_cannot_show_a_bar_or_shows_every_step_gets_lines(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    for terminal, level, bars in (
        ("xterm", logging.WARNING, True),
        ("dumb", logging.WARNING, False),
        ("xterm", logging.INFO, False),
    ):
        monkeypatch.setenv("TERM", terminal)
        caplog.set_level(level)
        assert (bars_of_batches() is not None) is bars, (terminal, level)


def test_beside_json_and_in_short_readings_nothing_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for quiet in (True, False):
        with shown_reading(quiet) as reached:
            reached(offsets(0, 10), 5)
    assert capsys.readouterr() == ("", "")
