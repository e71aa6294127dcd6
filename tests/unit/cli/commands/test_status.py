"""`sluice status`: which formats and options go together, and when it fails."""

from __future__ import annotations

import json
from pathlib import Path

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
        (["--watch", "--fail-on", "stopped"], "leave --fail-on out"),
        (["--fail-on", "fresh"], "'stopped', 'unknown', 'behind'"),
    ],
)
def test_what_does_not_go_together_is_refused(options: list[str], told: str) -> None:
    done = CliRunner().invoke(command_line, ["status", *options])
    assert done.exit_code == 2
    assert told in done.output


def status(folder: Path, *options: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr, for a folder of specs whose connection is not set."""
    settings = {
        "SLUICE_PIPELINES": str(folder),
        "SLUICE_WAREHOUSE": str(folder),
        "AIRFLOW_CONN_KAFKA_DEFAULT": "",
    }
    done = CliRunner(env=settings).invoke(command_line, ["status", *options])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("options", [[], ["--json"], ["--format", "openmetrics"]], ids=str)
def test_what_is_no_folder_of_specs_is_a_failure(options: list[str]) -> None:
    for place, found in (("/nonexistent", "no such folder"), (__file__, "a file, expected")):
        code, said, errors = status(Path(place), *options)
        assert code == 1
        assert found in said + errors or "openmetrics" in options


def test_an_empty_folder_fails_only_when_asked(tmp_path: Path) -> None:
    assert status(tmp_path)[0] == 0
    code, said, errors = status(tmp_path, "--fail-on", "stopped", "--json")
    assert (code, json.loads(said)["pipelines"]) == (1, [])
    assert errors == "--fail-on stopped: there are no pipelines\n"


@pytest.mark.parametrize("options", [[], ["--json"], ["--format", "openmetrics"]], ids=str)
def test_fail_on_names_what_it_fails_on(options: list[str], tmp_path: Path) -> None:
    spec = "{version: 1, pipeline: trips, table: trips, topics: [t], format: {type: raw}}"
    (tmp_path / "trips.yaml").write_text(spec)
    (tmp_path / "wrong.yaml").write_text("{}")
    assert status(tmp_path, *options)[0] == 0
    code, said, errors = status(tmp_path, *options, "--fail-on", "stopped")
    assert (code, "trips" in said) == (1, True)
    assert errors == f"--fail-on stopped: trips is stopped, {tmp_path}/wrong.yaml is refused\n"
