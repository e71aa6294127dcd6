"""What the repository promises: verbs with help, commands with `--json`, no trace of a machine."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner
from sluice.cli import COMMANDS as NAMED
from sluice.cli import command_line
from sluice.settings import Settings

from tests.unit.sources import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z][a-z-]*):(?!=)", MAKEFILE, re.MULTILINE)


def listed(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """The commands by their words; those of a group have its name before theirs."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command, name
        if isinstance(command, click.Group):
            yield from listed(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


COMMANDS = list(listed(command_line))
# These are about files, or about all pipelines.
WITHOUT_PIPELINE = {
    "check": ["files"],
    "jars": [],
    "list": [],
    "peek": ["topic"],
    "produce": ["topic", "file"],
    "schema": [],
    "topics": ["files"],
}


@cache
def tracked() -> list[Path]:
    """The text files that git knows, or will know once they are added."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in found if path.is_file() and b"\0" not in path.read_bytes()[:1024]]


def occurrences(pattern: str, files: list[Path]) -> list[str]:
    wanted = re.compile(pattern)
    return [
        f"{path.relative_to(ROOT)}:{number}: {found[0]}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (found := wanted.search(line))
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_every_make_target_has_help_and_is_phony(target: str) -> None:
    assert re.search(rf"^{target}:[^#\n]*  ## [A-Z].+", MAKEFILE, re.MULTILINE)
    phony = re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    assert phony
    assert target in phony[1].split()


def test_make_alone_lists_every_target() -> None:
    listed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = re.sub(r"\033\[\d*m", "", listed)
    assert {"help", "setup", "demo", "up", "down", "test", "test-fast", "check"} <= set(TARGETS)
    for target in TARGETS:
        assert re.search(rf"^ *{target} +[A-Z]", listed, re.MULTILINE), target


def test_make_knows_every_module_that_it_runs() -> None:
    for name in re.findall(r"-m (local(?:\.\w+)+)", MAKEFILE):
        place = ROOT / name.replace(".", "/")
        there = place.with_suffix(".py").is_file() or (place / "__main__.py").is_file()
        assert there, f"`{name}` is not there"


def test_what_runs_before_a_commit_is_what_make_check_runs() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    hooks = [each["entry"] for each in yaml.safe_load(text)["repos"][0]["hooks"]]
    check = MAKEFILE.partition("\ncheck:")[2].partition("\n\n")[0].splitlines()[1:]
    assert [each.strip().replace("$(BIN)", ".venv/bin") for each in check] == hooks


def test_every_file_of_a_command_is_on_the_command_line() -> None:
    files = (ROOT / "jobs" / "sluice" / "cli" / "commands").iterdir()
    assert {path.stem for path in files if not path.name.startswith("__")} == set(NAMED)


def test_the_commands_of_the_design_are_there() -> None:
    assert {"plan", "run", "status", "history", "verify"} <= {name for name, _ in COMMANDS}


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_every_command_has_help_takes_a_pipeline_and_prints_json(
    name: str, command: click.Command
) -> None:
    assert command.help
    arguments = [each.name for each in command.params if isinstance(each, click.Argument)]
    assert arguments == WITHOUT_PIPELINE.get(name, ["pipeline"])
    assert "--json" in [option for each in command.params for option in each.opts]
    shown = CliRunner().invoke(command_line, [*name.split(), "--help"])
    assert shown.exit_code == 0
    assert "--json" in shown.output


@pytest.mark.parametrize("words", [[], ["quarantine"]], ids=str)
def test_the_list_of_commands_is_whole_in_80_columns(words: list[str]) -> None:
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(command_line, [*words, "--help"], prog_name="s")
    listed = shown.output.partition("Commands:")[2].splitlines()
    assert listed
    assert [line for line in listed if "..." in line or len(line) > 80] == []


@pytest.mark.parametrize(("name", "command"), [("", command_line), *COMMANDS])
def test_every_option_says_what_it_is_for(name: str, command: click.Command) -> None:
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert [each.name for each in options if not each.help] == []


# Any text will do for these; of the others help names the form.
FREE_TEXT = {"--reason", "--reason-like"}


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_an_option_that_wants_a_form_names_it(name: str, command: click.Command) -> None:
    shown = CliRunner().invoke(command_line, [*name.split(), "--help"]).output
    assert set(re.findall(r"(--[\w-]+) TEXT", shown)) <= FREE_TEXT


def test_a_newcomer_learns_where_to_begin_and_what_exit_codes_mean() -> None:
    shown = CliRunner().invoke(command_line, ["--help"]).output
    for words in ("sluice peek TOPIC", "sluice plan PIPELINE", "cursor", "Exit codes: 0 done"):
        assert words in shown


@pytest.mark.parametrize(
    "arguments", [["nothing"], ["plan"], ["plan", "a", "b"], ["plan", "a", "--xml"]], ids=str
)
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(command_line, arguments).exit_code == 2


def test_the_settings_are_documented_where_the_commands_are() -> None:
    shown = CliRunner().invoke(command_line, ["--help"]).output
    for setting in ("SLUICE_WAREHOUSE", "SLUICE_PIPELINES", "AIRFLOW_CONN_<ID>"):
        assert setting in shown


def test_the_default_settings_are_those_of_the_design() -> None:
    found = Settings.from_environment({})
    assert found.warehouse == "./warehouse"
    assert found.pipelines.as_posix() == "dags/pipelines"


def test_no_tracked_file_holds_the_path_of_somebodys_machine() -> None:
    somebodys = r"(?<![\w.])/(?:home|Users|root|work|mnt|media|private)/[\w.]"
    assert occurrences(somebodys, tracked()) == []


def test_no_tracked_file_names_a_package_registry() -> None:
    """Where packages come from is the matter of the machine's own pip and Ivy configuration."""
    installed = [
        path for path in tracked() if path.suffix in (".txt", ".in", ".xml", ".toml", ".sh")
    ]
    assert occurrences(r"--(?:extra-)?index-url|--find-links|--trusted-host", installed) == []
    # The last is the name of an XML name space, which nobody asks.
    others = r"127\.0\.0\.1|localhost|www\.apache\.org/licenses|ant\.apache\.org/ivy/maven\""
    assert occurrences(rf"https?://(?!{others})", installed) == []
    registries = r"(?i)\b[\w-]+\.(?:jfrog\.io|pkg\.dev)\b|\b(?:nexus|artifactory)\.[\w-]+\.\w+"
    assert occurrences(registries, tracked()) == []


@pytest.mark.parametrize(
    "path", ["README.md", "CHANGELOG.md", "LICENSE", "docs/design.md", "docs/tables.md"]
)
def test_what_a_newcomer_reads_is_there(path: str) -> None:
    assert (ROOT / path).is_file()
    assert (ROOT / path).read_text(encoding="utf-8").strip(), f"{path} is empty"


def test_spark_and_its_client_have_the_same_version() -> None:
    """Both install into one folder: of two versions, one would overwrite the other's files."""
    for name in ("requirements.in", "requirements.txt"):
        text = (ROOT / name).read_text(encoding="utf-8")
        pins = dict(re.findall(r"^(pyspark|pyspark-client)==([\d.]+)", text, re.MULTILINE))
        assert pins.get("pyspark") == pins.get("pyspark-client") is not None
