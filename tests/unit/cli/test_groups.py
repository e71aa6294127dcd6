"""A mistyped command or option is answered with the most similar one."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from sluice.cli import command_line


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["statu"], "No such command 'statu' (did you mean status?)."),
        (["ru", "orders"], "(did you mean run?)"),
        (["quarantine", "lst"], "No such command 'lst' (did you mean list?)."),
        (["xyzzy"], "No such command 'xyzzy'."),
        (["status", "--wach"], "--watch"),
        (["--verbos", "status"], "--verbose"),
    ],
    ids=str,
)
def test_a_mistyped_word_is_answered_with_a_similar_one(words: list[str], told: str) -> None:
    done = CliRunner().invoke(command_line, words)
    assert done.exit_code == 2
    assert told in done.output
