"""`sluice status`: which formats and options go together."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from sluice.cli import command_line


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--format", "xml"], "'text', 'json', 'openmetrics'"),
        (["--json", "--format", "openmetrics"], "give one of them"),
        (["--watch", "--format", "openmetrics"], "leave the format openmetrics out"),
        (["--watch", "--json"], "leave the format json out"),
        (["trips", "--all"], "Give a name, or --all"),
    ],
)
def test_what_does_not_go_together_is_refused(options: list[str], told: str) -> None:
    done = CliRunner().invoke(command_line, ["status", *options])
    assert done.exit_code == 2
    assert told in done.output
