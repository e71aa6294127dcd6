"""`sluice reset`: exactly one target, in a form that can be read, before anything is opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from sluice.cli.commands.reset import reset


def said(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(reset, ["flights", *words])
    return done.exit_code, " ".join(done.output.split())


WHY = ("--execute", "--reason", "a test")
USAGE = [
    ((), "exactly one of"),
    (("--to-latest", "--to-earliest"), "found --to-earliest, --to-latest"),
    (("--to-latest", "--execute"), "--execute needs --reason"),
    (("--to-latest", "--execute", "--reason", " "), "--execute needs --reason"),
    (("--to-latest", "--as-previewed", "2-1-0123abcd"), "--as-previewed goes with --execute"),
    (("--shift-by", "some"), "--shift-by: 'some' is not a number of offsets"),
    (("--to-datetime", "noon", *WHY), "--to-datetime: 'noon' is not a moment"),
    (("--by-duration", "1h"), "--by-duration: '1h' is not a duration"),
    (("--to-offsets", "flights=5"), "is not a position"),
    (("--to-offsets", "f[0]=5", "--to-offsets", "f[0]=6"), "f[0] is given twice"),
    (("--to-offsets", "f[0]=5", "--topic", "f"), "leave the topic out"),
    (("--to-table", "--topic", "f"), "leave the topic out"),
    (("--to-latest", "--topic", "f:"), "'f:' is not a topic"),
    (("--skip", "f[0]=5"), "is not a position; expected for example flights[0]@120"),
    (("--skip", "f[0]@5", "--topic", "f"), "leave --topic out"),
    (("--skip", "f[0]@5", "--to-latest"), "found --skip, --to-latest"),
    (("--from-file", "/no/such/file"), "does not exist"),
]


@pytest.mark.parametrize(("words", "why"), USAGE, ids=lambda case: " ".join(case)[:40])
def test_wrong_usage_is_refused_with_what_is_allowed(words: tuple[str, ...], why: str) -> None:
    code, output = said(*words)
    assert (code, why in output) == (2, True), output


def test_a_file_of_another_form_is_refused_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    file.write_text("flights,0,1\nflights;1;2\n")
    code, output = said("--from-file", str(file))
    assert (code, "line 2: 'flights;1;2' is not a position" in output) == (2, True), output
